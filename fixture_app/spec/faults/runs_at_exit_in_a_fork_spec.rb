# Has an at_exit handler and a child by fork: the handler runs in both. Plain: rc 0, 1 example.
at_exit { puts "at exit" }

RSpec.describe "A spec with a child that ends as it does" do
  it "forks and waits" do
    Process.wait(fork { nil })
    expect($?).to be_success
  end
end
