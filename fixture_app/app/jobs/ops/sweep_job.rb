module Ops
  class SweepJob < ApplicationJob
    queue_as "ops"
    queue_with_priority 10

    def perform
      Ops::Thing.where(parent_id: nil).where.missing(:children).delete_all
    end
  end
end
