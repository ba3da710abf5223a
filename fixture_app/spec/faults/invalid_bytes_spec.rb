# Has bytes that are not UTF-8 in a description, a message and its output. Plain: rc 1, 4 examples, 2 failures.
RSpec.describe "A spec in the wrong encoding" do
  it("passes as caf\xE9") { expect(1).to eq(1) }
  it("fails") { raise "caf\xE9 is closed" }
  it("compares") { expect("caf\xE9".b).to eq("café") }

  it "prints" do
    $stdout.write("caf\xE9\n")
    $stderr.write("\xFF\xFE\n")
  end
end
