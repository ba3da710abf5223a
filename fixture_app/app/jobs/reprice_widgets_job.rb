# Adds a percentage to the price of some widgets.
class RepriceWidgetsJob < ApplicationJob
  class NothingToDo < StandardError; end

  queue_as { arguments.first.abs > 50 ? :slow : :default }
  retry_on ActiveRecord::Deadlocked, wait: 5, attempts: 3
  discard_on NothingToDo

  before_perform :check_percent
  after_perform { Event.record("repriced", percent: arguments.first) }

  def perform(percent, ids = [], round_to: 1)
    Widget.where(id: ids).find_each do |widget|
      widget.update!(price_cents: MoneyMath.round_to(MoneyMath.add_percent(widget.price_cents, percent), round_to))
    end
  end

  private

  def check_percent
    raise NothingToDo if arguments.first.zero?
  end
end
