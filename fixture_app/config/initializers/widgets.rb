Rails.application.config.x.widgets = Rails.application.config_for(:widgets)
