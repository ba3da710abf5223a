class Order < ApplicationRecord
  self.primary_key = "ref"

  has_many :line_items, -> { order(:position) }, foreign_key: :order_ref, dependent: :destroy, inverse_of: :order

  validates :ref, format: { with: /\A[A-Z]{2}-\d{4}\z/ }

  def total_cents
    line_items.sum { |line| line.quantity * line.unit_cents }
  end
end
