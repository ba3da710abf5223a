Gem::Specification.new do |spec|
  spec.name = "billing"
  spec.version = "0.1.0"
  spec.authors = [ "Widgetry" ]
  spec.summary = "Invoices, as an engine"
  spec.files = Dir["{app,config,lib}/**/*"]
  spec.required_ruby_version = ">= 3.2"
  spec.add_dependency "rails", ">= 7.1", "< 8.2"
end
