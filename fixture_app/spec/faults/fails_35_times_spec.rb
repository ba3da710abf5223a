# Fails 35 times in the same way. Plain: rc 1, 35 examples, 35 failures.
RSpec.describe "A spec that fails 35 times" do
  35.times do |n|
    it "fails for #{n}" do
      expect("the same thing").to eq("another thing")
    end
  end
end
