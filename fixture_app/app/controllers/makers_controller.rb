class MakersController < ApplicationController
  include Paginated

  layout false

  def index
    render plain: page_of(Maker.order(:name)).pluck(:name).join("\n")
  end

  def show
    render plain: Maker.find(params[:id]).name
  end
end
