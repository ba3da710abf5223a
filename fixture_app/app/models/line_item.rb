# Known by its order and its place in it.
class LineItem < ApplicationRecord
  self.primary_key = %w[order_ref position]

  belongs_to :order, foreign_key: :order_ref, inverse_of: :line_items
  belongs_to :widget
  has_many :notes, class_name: "LineNote", foreign_key: %i[order_ref position], inverse_of: :line_item

  validates :quantity, inclusion: { in: 1..999 }
end
