module MoneyHelper
  def money(cents)
    MoneyMath.format(cents, Rails.configuration.x.widgets.currency)
  end
end
