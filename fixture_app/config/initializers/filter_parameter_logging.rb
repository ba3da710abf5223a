Rails.application.config.filter_parameters += %i[passw secret token card]
