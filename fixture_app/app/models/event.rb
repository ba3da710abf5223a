class Event < AuditRecord
  validates :name, presence: true

  scope :since, ->(time) { where(created_at: time..) }

  def self.record(name, **details)
    create!(name: name, details: details.to_json)
  end
end
