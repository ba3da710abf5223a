class WidgetChannel < ApplicationCable::Channel
  def subscribed
    stream_from "widgets"
  end

  def ask(data)
    transmit({ price_cents: Widget.find(data["id"]).price_cents })
  end
end
