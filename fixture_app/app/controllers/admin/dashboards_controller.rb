module Admin
  class DashboardsController < ApplicationController
    def show
      render plain: "#{Widget.count} widgets"
    end
  end
end
