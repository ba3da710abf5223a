class BooksController < ApplicationController
  def index; end
end
