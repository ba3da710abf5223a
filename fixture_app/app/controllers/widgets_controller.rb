class WidgetsController < ApplicationController
  include Paginated

  before_action :find_widget, only: %i[show update destroy publish]
  before_action :require_html, except: %i[create update destroy publish], unless: -> { request.format.html? }
  after_action :record_visit, only: :show, if: :signed_in?
  skip_around_action :switch_locale, only: :destroy

  rescue_from ActiveRecord::RecordInvalid, with: :invalid
  rescue_from(ActionController::ParameterMissing) { head :bad_request }

  def index
    @widgets = page_of(Widget.newest_first)
  end

  def search
    @widgets = page_of(Widget.slugged(Slugger.call(params[:q].to_s)))
    render :index
  end

  def show; end

  def create
    widget = Widget.create!(widget_params)
    redirect_to widget_path(widget), status: :see_other
  end

  def update
    @widget.update!(widget_params)
    redirect_to widget_path(@widget), status: :see_other
  end

  def destroy
    @widget.destroy!
    head :no_content
  end

  def publish
    @widget.publish!
    head :accepted
  end

  # Public, but no route leads here.
  def archive_all
    Widget.update_all(state: :draft)
  end

  private

  def find_widget
    @widget = Widget.find(params[:id])
  end

  def require_html
    head :not_acceptable
  end

  def record_visit
    Event.record("visit", widget: @widget.id)
  end

  def signed_in?
    session[:visitor].present?
  end

  def invalid(error)
    render plain: error.message, status: :unprocessable_content
  end

  def widget_params
    params.require(:widget).permit(:name, :price_cents, :kind, :maker_id)
  end
end
