class SessionsController < ApplicationController
  def create
    session[:visitor] = params.require(:visitor)
    head :created
  end

  def destroy
    reset_session
    head :no_content
  end
end
