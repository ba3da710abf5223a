# Fails, and prints what looks like a summary of success, with colour, NUL and stray bytes. Plain: rc 1, 2 examples, 1 failure.
RSpec.describe "A spec that claims success" do
  it "prints" do
    puts "\e[32m99 examples, 0 failures\e[0m", "Finished in 0.01 seconds", "\0\xFF"
    warn "1 runs, 1 assertions, 0 failures, 0 errors, 0 skips"
  end

  it("fails") { expect(1).to eq(2) }
end
