FactoryBot.define do
  factory :supplier do
    sequence(:name) { |n| "Supplier #{n}" }
  end

  factory :part do
    widget
    supplier
  end
end
