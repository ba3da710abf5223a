module Billing
  class Invoice < ApplicationRecord
    enum :status, { open: "open", paid: "paid" }

    validates :number, presence: true, uniqueness: true
    validates :amount_cents, numericality: { greater_than: 0 }

    def pay!(now = Time.current)
      update!(status: :paid, paid_at: now)
    end
  end
end
