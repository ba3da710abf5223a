module Catalog
  # What the rest of the app may ask of this pack.
  class Browse
    def self.shelf(name)
      Shelf.find_by!(name: name).widgets.live.order(:name).to_a
    end
  end
end
