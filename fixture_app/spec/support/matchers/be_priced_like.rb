RSpec::Matchers.define :be_priced_like do |other|
  match { |widget| widget.price_cents == other.price_cents }

  failure_message do |widget|
    "expected #{widget.name} to cost #{other.price_cents} cents, as #{other.name} does, but it costs #{widget.price_cents}"
  end
end
