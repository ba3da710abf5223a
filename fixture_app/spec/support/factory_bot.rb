FactoryBot.definition_file_paths = [
  Rails.root.join("spec/factories"),
  *Rails.root.glob("packs/*/spec/factories")
]
FactoryBot.find_definitions
