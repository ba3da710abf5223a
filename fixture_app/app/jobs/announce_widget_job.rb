class AnnounceWidgetJob < ApplicationJob
  queue_as :mail

  def perform(widget)
    WidgetMailer.with(widget: widget).went_live.deliver_now
    ActionCable.server.broadcast("widgets", { id: widget.id, name: widget.name })
  end
end
