# Writes to both databases, and expects to find them empty each time.
require "test_helper"

class UsesDatabaseTest < ActiveSupport::TestCase
  2.times do |n|
    test "finds it empty and fills it #{n}" do
      assert_equal [0, 0], [Widget.count, Event.count]
      create(:widget) && Event.record("made")
    end
  end
end
