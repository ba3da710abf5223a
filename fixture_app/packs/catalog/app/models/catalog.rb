module Catalog
  def self.table_name_prefix
    "catalog_"
  end
end
