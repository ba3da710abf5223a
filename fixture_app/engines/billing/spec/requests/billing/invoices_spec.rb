require "rails_helper"

RSpec.describe "Billing::Invoices", type: :request do
  let!(:invoice) { Billing::Invoice.create!(number: "2024-7", amount_cents: 900) }

  it "lists invoices below the first mount" do
    get "/billing/invoices"

    expect(response.body).to eq("2024-7")
  end

  it "pays below the second mount" do
    post "/partners/3/billing/invoices/#{invoice.id}/pay"

    expect(response).to redirect_to("/partners/3/billing/invoices/#{invoice.id}")
  end
end
