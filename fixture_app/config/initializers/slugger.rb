# lib/ is required by hand, not autoloaded: code that has no need of Rails.
require "slugger"
