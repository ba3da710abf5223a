# Calls abort while it is loaded.
require "test_helper"

abort "not today"
