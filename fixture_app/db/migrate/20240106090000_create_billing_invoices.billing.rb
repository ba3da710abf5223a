class CreateBillingInvoices < ActiveRecord::Migration[7.1]
  def change
    create_table :billing_invoices do |t|
      t.string :number, null: false, index: { unique: true }
      t.integer :amount_cents, null: false
      t.string :status, null: false, default: "open"
      t.datetime :paid_at
      t.timestamps
    end
  end
end
