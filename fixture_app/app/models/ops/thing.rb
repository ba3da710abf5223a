module Ops
  class Thing < ApplicationRecord
    belongs_to :parent, class_name: "Ops::Thing", optional: true
    has_many :children, class_name: "Ops::Thing", foreign_key: :parent_id, dependent: :destroy, inverse_of: :parent

    validates :code, presence: true, uniqueness: true
  end
end
