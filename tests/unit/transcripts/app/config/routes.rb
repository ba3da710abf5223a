# frozen_string_literal: true

Rails.application.routes.draw { get "/carts", to: "carts#index" }
