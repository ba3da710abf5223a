# Opens 512 files and closes none. Plain: rc 1, 2 examples, 1 failure.
RSpec.describe "A spec that opens much" do
  it("opens") { $left_open = Array.new(512) { File.open(File::NULL) } }
  it("fails") { expect($left_open.size).to eq(513) }
end
