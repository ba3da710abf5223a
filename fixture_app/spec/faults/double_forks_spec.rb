# Passes, and leaves a process that was forked twice, as daemons are. Plain: rc 0, 2 examples.
RSpec.describe "A spec that leaks a daemon" do
  it "starts one" do
    middle = fork do
      Process.setsid
      fork { exec "sleep", "600", in: File::NULL, out: File::NULL, err: File::NULL }
      exit!(0)
    end
    Process.wait(middle)
  end

  it("passes") { expect(1).to eq(1) }
end
