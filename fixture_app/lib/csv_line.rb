# One line of CSV, quoted where it must be.
module CsvLine
  def self.call(values)
    values.map { |value| quote(value.to_s) }.join(",") << "\n"
  end

  def self.quote(text)
    text.match?(/[",\n]/) ? %("#{text.gsub('"', '""')}") : text
  end
  private_class_method :quote
end
