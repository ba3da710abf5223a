# Belongs to no single attribute: reads its limit from config/widgets.yml.
class PriceLimitValidator < ActiveModel::Validator
  def validate(record)
    limit = Rails.configuration.x.widgets.max_price_cents
    record.errors.add(:price_cents, :less_than_or_equal_to, count: limit) if record.price_cents.to_i > limit
  end
end
