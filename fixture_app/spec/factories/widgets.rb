FactoryBot.define do
  factory :widget do
    sequence(:name) { |n| "Widget #{n}" }
    kind { :small }
    price_cents { 1_000 }

    trait(:live) { state { :live } }
    trait(:made) { maker }
    trait(:tagged) { tags { [ association(:tag) ] } }

    factory :gadget, class: "Gadget" do
      volts { 12 }
    end
  end

  factory :maker do
    sequence(:name) { |n| "Maker #{n}" }
  end

  factory :tag do
    sequence(:label) { |n| "tag-#{n}" }
  end

  factory :comment do
    commentable factory: :widget
    body { "Very nice." }
  end
end
