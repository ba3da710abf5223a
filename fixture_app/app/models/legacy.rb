# Code that drifted away from the schema: nothing here runs, everything loads.
module Legacy
  def self.table_name_prefix
    "legacy_"
  end
end
