module Paginated
  extend ActiveSupport::Concern

  PER_PAGE = 20

  private

  def page_of(records)
    records.limit(PER_PAGE).offset(PER_PAGE * [ params[:page].to_i - 1, 0 ].max)
  end
end
