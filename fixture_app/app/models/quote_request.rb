# A form's object: a model without a record.
class QuoteRequest
  include ActiveModel::Model
  include ActiveModel::Attributes

  attribute :email, :string
  attribute :quantity, :integer, default: 1

  validates :email, presence: true
  validates :quantity, comparison: { greater_than: 0 }
end
