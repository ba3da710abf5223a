class ApplicationMailer < ActionMailer::Base
  default from: "shop@widgets.test"
end
