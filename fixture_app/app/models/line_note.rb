class LineNote < ApplicationRecord
  belongs_to :line_item, foreign_key: %i[order_ref position], inverse_of: :notes

  validates :text, presence: true
end
