# Lowers its limit of open files to what is open already. Plain: rc 1, no summary, LoadError on stderr.
RSpec.describe "A spec that may open nothing more" do
  it "lowers the limit" do
    Process.setrlimit(:NOFILE, File.open(File::NULL) { |file| file.fileno })
  end

  it("opens a file") { File.read(__FILE__) }
  it("passes") { expect(1).to eq(1) }
end
