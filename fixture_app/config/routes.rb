require "shy_app"
require "status_app"

Rails.application.routes.draw do
  root "pages#home"

  resources :widgets, except: %i[new edit] do
    resources :comments, only: %i[index create], shallow: true
    member { post :publish }
    collection { get :search }
  end
  resources :makers, only: %i[index show]
  resource :session, only: %i[create destroy]

  namespace :api, defaults: { format: "json" } do
    namespace :v1 do
      resources :widgets, only: %i[index show], constraints: { id: /\d+/ }
    end
  end

  constraints(subdomain: "admin") { get "dashboard", to: "admin/dashboards#show" }
  scope(path: "internal", module: "admin", as: "internal") { get "dashboard", to: "dashboards#show" }
  constraints(->(request) { request.params[:probe] }) { mount StatusApp.new => "/status" }
  mount ShyApp.new, at: "/shy"

  # The same engine twice, below two prefixes.
  mount Billing::Engine, at: "/billing"
  mount Billing::Engine, at: "/partners/:partner_id/billing", as: :partner_billing

  get "ping", to: ->(_env) { [ 200, { "content-type" => "text/plain" }, [ "pong" ] ] }
  get "old", to: redirect("/new")
  get "older/:id", to: redirect("/widgets/%{id}", status: 302)
  get "oldest", to: redirect { |_params, request| "/search?#{request.query_string}" }

  get "(/:locale)/books", to: "books#index", as: :books, locale: /en|nl/
  match "anything", to: "pages#anything", via: :all
  match "form", to: "pages#form", via: %i[get post]
  get "feed", to: "pages#feed", format: false
  # To Rails the placeholder is :n, and the rest is text.
  get "uni/ü/:näme", to: "pages#uni"

  # No action of this name exists: requests for it end in a 404.
  get "widgets/:id/ghost", to: "widgets#ghost", as: :ghost_widget

  direct(:handbook) { "https://handbook.example/widgets" }
  resolve("Gadget") { |gadget| [ :widget, { id: gadget.id } ] }

  get "*path", to: "pages#missing"
end
