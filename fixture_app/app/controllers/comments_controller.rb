class CommentsController < ApplicationController
  def index
    render plain: widget.comments.pluck(:body).join("\n")
  end

  def create
    widget.comments.create!(body: params.require(:body))
    head :created
  end

  private

  def widget
    Widget.find(params[:widget_id])
  end
end
