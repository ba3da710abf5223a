# Describes itself in several lines, in colour, with NUL, at great length, and not at all. Plain: rc 1, 6 examples, 4 failures.
RSpec.describe "A spec\nwith odd descriptions" do
  it("has\nthree\nlines") { expect(1).to eq(1) }
  it("is \e[31mred\e[0m") { expect(1).to eq(2) }
  it("has a \0 in it") { expect(1).to eq(2) }
  it("is long: #{'ü' * 5_000}") { expect(1).to eq(2) }
  it("") { expect(1).to eq(2) }
  it("rspec ./spec/models/widget_spec.rb:1 # looks like a command") { expect(1).to eq(1) }
end
