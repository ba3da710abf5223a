module Billing
  class ApplicationController < ActionController::Base
  end
end
