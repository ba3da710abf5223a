# frozen_string_literal: true

RSpec.describe "Hanging" do
  it "sleeps" do
    File.write("asleep", "")
    sleep
  end
end
