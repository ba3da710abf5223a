# Turns a title into the last part of an address: "Big Widget!" is "big-widget".
module Slugger
  def self.call(title)
    title.unicode_normalize(:nfkd).downcase.gsub(/\p{Mn}/, "").gsub(/[^a-z0-9]+/, "-").gsub(/\A-|-\z/, "")
  end
end
