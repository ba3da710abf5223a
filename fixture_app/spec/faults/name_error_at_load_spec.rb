# Names a constant that does not exist, while it is loaded. Plain: rc 1, 0 examples, 0 failures, 1 error outside.
require "rails_helper"

RSpec.describe Widgett do
  it("never runs") { expect(1).to eq(1) }
end
