class Tag < ApplicationRecord
  has_and_belongs_to_many :widgets

  validates :label, presence: true, uniqueness: true
end
