FactoryBot.define do
  factory :order do
    sequence(:ref) { |n| format("AB-%04d", n) }
  end

  factory :line_item do
    order
    widget
    sequence(:position)
    unit_cents { 250 }
  end
end
