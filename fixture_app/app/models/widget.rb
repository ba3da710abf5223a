class Widget < ApplicationRecord
  include Sluggable

  attribute :virt, :string

  enum :state, { draft: 0, live: 1 }
  enum :kind, { big: "B", small: "S" }, prefix: true

  belongs_to :maker, optional: true, counter_cache: true
  has_many :parts, dependent: :destroy, inverse_of: :widget
  has_many :suppliers, -> { order(:name) }, through: :parts
  has_many :comments, as: :commentable, dependent: :destroy
  has_one :latest_comment, -> { order(id: :desc) }, as: :commentable, class_name: "Comment"
  has_and_belongs_to_many :tags

  validates :name, presence: true, length: { in: 2..80 }, format: { with: /\A[[:print:]]+\z/ }
  validates :name, uniqueness: { scope: :maker_id, case_sensitive: false }
  validates :name, exclusion: { in: ->(_widget) { reserved_names } }
  validates :price_cents, inclusion: { in: 1..Float::INFINITY }, if: :live?
  validates_with PriceLimitValidator
  validates_with Class.new(ActiveModel::Validator) {
    def validate(widget)
      widget.errors.add(:kind, :blank) if widget.live? && widget.kind.nil?
    end
  }

  before_validation :squish_name
  after_update_commit :announce, if: :just_went_live?

  scope :cheaper_than, ->(cents) { where(price_cents: ...cents) }
  scope :newest_first, -> { order(created_at: :desc, id: :desc) }

  def self.reserved_names
    Rails.configuration.x.widgets.reserved_names
  end

  def publish!
    update!(state: :live)
  end

  private

  def squish_name
    self.name = name&.squish
  end

  def just_went_live?
    saved_change_to_state?(to: "live")
  end

  def announce
    AnnounceWidgetJob.perform_later(self)
  end
end
