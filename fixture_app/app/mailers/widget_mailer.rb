class WidgetMailer < ApplicationMailer
  before_action { @widget = params.fetch(:widget) }

  def went_live
    mail to: "fans@widgets.test", subject: default_i18n_subject(name: @widget.name)
  end
end
