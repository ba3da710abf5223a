# Lets RSpec describe its examples. Plain: rc 1, 4 examples, 1 failure, 1 pending.
RSpec.describe [ 1, 2 ] do
  it { is_expected.to include(1) }
  it { is_expected.to include(3) }
  it { expect(subject.size).to eq(2) }
  specify { skip }
end
