Billing::Engine.routes.draw do
  root "invoices#index"

  resources :invoices, only: %i[index show] do
    post :pay, on: :member
  end
end
