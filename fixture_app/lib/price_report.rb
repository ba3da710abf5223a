require "csv_line"

# A list of priced things as CSV. Loaded only where a report is asked for.
class PriceReport
  def initialize(priced)
    @priced = priced
  end

  def to_csv
    @priced.map { |thing| CsvLine.call([ thing.name, thing.price_cents ]) }.join
  end
end
