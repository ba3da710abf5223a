# Has no table: its migration never came.
class Extra < ApplicationRecord
  belongs_to :widget
end
