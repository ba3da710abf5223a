module Billing
  class InvoicesController < ApplicationController
    before_action :find_invoice, only: %i[show pay]

    def index
      render plain: Invoice.order(:number).pluck(:number).join("\n")
    end

    def show
      render plain: @invoice.number
    end

    def pay
      @invoice.pay!
      redirect_to invoice_path(@invoice), status: :see_other
    end

    private

    def find_invoice
      @invoice = Invoice.find(params[:id])
    end
  end
end
