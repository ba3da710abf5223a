# Sleeps for ever while it is loaded.
require "test_helper"

sleep
