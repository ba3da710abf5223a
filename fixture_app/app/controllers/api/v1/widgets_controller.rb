module Api
  module V1
    class WidgetsController < BaseController
      include Paginated

      def index
        render json: page_of(Widget.live.order(:id)).map { |widget| summary(widget) }
      end

      def show
        render json: summary(Widget.find(params[:id]))
      end

      private

      def summary(widget)
        widget.slice(:id, :name, :slug, :state, :price_cents)
      end
    end
  end
end
