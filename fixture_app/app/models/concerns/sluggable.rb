# Gives a record with a name a slug, once, when it is first saved.
module Sluggable
  extend ActiveSupport::Concern

  included do
    before_save :assign_slug

    scope :slugged, ->(slug) { where(slug: slug) }
  end

  private

  def assign_slug
    self.slug ||= Slugger.call(name)
  end
end
