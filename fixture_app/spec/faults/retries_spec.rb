# Runs a failing example again until it passes, as retry gems do. Plain: rc 0, 1 example.
RSpec.describe "A spec that retries" do
  attempts = 0

  around do |example|
    example.run
    if example.exception
      example.example.instance_variable_set(:@exception, nil)
      example.run
    end
  end

  it("passes the second time") { expect(attempts += 1).to eq(2) }
end
