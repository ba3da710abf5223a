Gem::Specification.new do |spec|
  spec.name = "money_math"
  spec.version = "0.1.0"
  spec.authors = [ "Widgetry" ]
  spec.summary = "Arithmetic on cents"
  spec.files = Dir["lib/**/*"]
  spec.required_ruby_version = ">= 3.2"
end
