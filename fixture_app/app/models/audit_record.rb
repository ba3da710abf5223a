# Everything that lives in the second database.
class AuditRecord < ApplicationRecord
  self.abstract_class = true

  connects_to database: { writing: :audit, reading: :audit }
end
