module Ops
  def self.table_name_prefix
    "ops_"
  end
end
