# Stubs what a reporter needs (JSON, IO, File, the pid), for one example. Plain: rc 1, 3 examples, 1 failure.
require "json"

RSpec.describe "A spec that stubs everything" do
  it "stubs and passes" do
    stub_all
    expect(Process.pid).to eq(1)
  end

  it "stubs and fails" do
    stub_all
    expect(Process.pid).to eq(2)
  end

  it("passes") { expect(JSON.generate([ 1 ])).to eq("[1]") }

  def stub_all
    allow(JSON).to receive(:generate).and_return("{}")
    allow(File).to receive(:read).and_raise(Errno::ENOENT)
    allow(Process).to receive_messages(pid: 1, clock_gettime: 0)
    allow_any_instance_of(IO).to receive(:write).and_return(0)
  end
end
