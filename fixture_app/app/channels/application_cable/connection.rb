module ApplicationCable
  class Connection < ActionCable::Connection::Base
    identified_by :visitor

    def connect
      self.visitor = request.params[:visitor] || reject_unauthorized_connection
    end
  end
end
