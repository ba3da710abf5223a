class ApplicationController < ActionController::Base
  include Localized

  rescue_from ActiveRecord::RecordNotFound, with: :not_found

  private

  def not_found
    render plain: "not found", status: :not_found
  end
end
