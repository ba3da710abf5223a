class Supplier < ApplicationRecord
  has_many :parts, dependent: :restrict_with_error
  has_many :widgets, through: :parts

  validates :name, presence: true
end
