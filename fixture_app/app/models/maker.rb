class Maker < ApplicationRecord
  has_many :widgets, dependent: :nullify, inverse_of: :maker
  has_many :gadgets, dependent: nil, inverse_of: :maker
  has_many :comments, as: :commentable, dependent: :destroy

  validates :name, presence: true, uniqueness: true

  def range
    widgets.minimum(:price_cents)..widgets.maximum(:price_cents)
  end
end
