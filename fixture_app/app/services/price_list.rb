# What a set of widgets costs, with and without VAT.
class PriceList
  def initialize(widgets = Widget.live)
    @widgets = widgets
  end

  def net_cents
    @widgets.sum(&:price_cents)
  end

  def gross_cents(vat = VATRate.standard)
    MoneyMath.add_percent(net_cents, vat.percent)
  end

  def to_csv
    require "price_report"
    PriceReport.new(@widgets).to_csv
  end
end
