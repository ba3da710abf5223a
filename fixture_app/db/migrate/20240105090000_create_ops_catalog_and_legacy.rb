class CreateOpsCatalogAndLegacy < ActiveRecord::Migration[7.1]
  def change
    create_table :ops_things do |t|
      t.string :code, null: false, index: { unique: true }
      t.references :parent, foreign_key: { to_table: :ops_things }
    end

    create_table :catalog_shelves do |t|
      t.string :name, null: false
    end

    create_table :catalog_placements do |t|
      t.references :shelf, null: false, foreign_key: { to_table: :catalog_shelves }
      t.references :widget, null: false, foreign_key: true
    end

    create_table :legacy_imports do |t|
      t.string :file_name
    end
  end
end
