FactoryBot.define do
  factory :shelf, class: "Catalog::Shelf" do
    sequence(:name) { |n| "Shelf #{n}" }
  end
end
