module Billing
  class Engine < ::Rails::Engine
    isolate_namespace Billing
  end
end
