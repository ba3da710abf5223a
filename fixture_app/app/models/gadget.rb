# A widget with a plug (single table inheritance).
class Gadget < Widget
  validates :volts, numericality: { in: 5..400 }, allow_nil: true
end
