# Requires what is not there.
require "test_helper"
require "no_such_library"
