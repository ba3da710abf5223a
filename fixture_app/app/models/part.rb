class Part < ApplicationRecord
  enum :grade, %i[plain fine]

  belongs_to :widget, inverse_of: :parts
  belongs_to :supplier

  validates :quantity, numericality: { greater_than: 0 }
end
