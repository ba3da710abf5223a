module Catalog
  class Shelf < ApplicationRecord
    has_many :placements, dependent: :destroy, inverse_of: :shelf
    has_many :widgets, through: :placements

    validates :name, presence: true
  end
end
