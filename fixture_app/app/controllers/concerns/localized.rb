# Runs an action in the locale that its address names.
module Localized
  extend ActiveSupport::Concern

  included do
    around_action :switch_locale
  end

  private

  def switch_locale(&)
    I18n.with_locale(params[:locale] || I18n.default_locale, &)
  end
end
