# Writes to both databases, and expects to find them empty each time. Plain: rc 0, 2 examples.
require "rails_helper"

RSpec.describe "A spec that uses the database" do
  2.times do
    it "finds it empty and fills it" do
      expect { create(:widget) && Event.record("made") }.to change { [ Widget.count, Event.count ] }.from([ 0, 0 ])
    end
  end
end
