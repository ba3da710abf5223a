# Closes every fd above 2 that Ruby lets it close. Plain: rc 1, 3 examples, 1 failure.
RSpec.describe "A spec that closes what it did not open" do
  it("passes") { expect(1).to eq(1) }

  it "closes" do
    Dir.children("/proc/self/fd").map(&:to_i).select { |fd| fd > 2 }.each do |fd|
      IO.for_fd(fd).close
    rescue SystemCallError, ArgumentError
      next # the listing's own fd is gone by now, and Ruby keeps a few for itself
    end
  end

  it("fails") { expect(1).to eq(2) }
end
