# Names a constant that is not there.
require "test_helper"

class NameErrorAtLoadTest < NoSuchBase
end
