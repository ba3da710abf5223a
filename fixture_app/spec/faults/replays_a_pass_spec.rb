# Fails, and says itself that the one which failed has passed, with an exit code that hides it. Plain: rc 0, 1 failure.
RSpec.configure { |config| config.failure_exit_code = 0 }

RSpec.describe "A spec that says it again" do
  it("fails") { expect(1).to eq(2) }
  it("takes it back") { RSpec.configuration.reporter.example_passed(self.class.examples.first) }
end
