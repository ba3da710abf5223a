VATRate = Data.define(:percent) do
  def self.standard
    new(percent: 21)
  end
end
