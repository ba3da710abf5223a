class PagesController < ApplicationController
  layout "bare", only: :home

  def home; end

  def anything
    render plain: request.method
  end

  def form
    head :ok
  end

  def feed
    render plain: "feed"
  end

  def uni
    render plain: params[:n]
  end

  def missing
    render plain: "no page #{params[:path]}", status: :not_found
  end
end
