module Catalog
  class Placement < ApplicationRecord
    belongs_to :shelf, inverse_of: :placements
    belongs_to :widget, class_name: "::Widget"
  end
end
