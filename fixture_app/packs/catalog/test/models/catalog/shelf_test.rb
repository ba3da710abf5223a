require "test_helper"

class Catalog::ShelfTest < ActiveSupport::TestCase
  test "it has a table of its own" do
    assert_equal "catalog_shelves", Catalog::Shelf.table_name
  end
end
