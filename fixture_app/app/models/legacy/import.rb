module Legacy
  class Import < ApplicationRecord
    # There is no such class, and no such column in widgets or comments.
    belongs_to :vanished_batch, optional: true
    has_many :rows, class_name: "Widget", foreign_key: :import_ref, dependent: nil
    has_many :comments, as: :importable, dependent: nil

    # There is no unique index, and no column `checksum`.
    validates :file_name, uniqueness: true
    validates :checksum, presence: true, on: :audit
  end
end
