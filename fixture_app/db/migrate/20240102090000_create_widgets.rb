class CreateWidgets < ActiveRecord::Migration[7.1]
  # Written as a column type, because Rails 7.1 has no t.virtual for SQLite.
  PRICE = "decimal GENERATED ALWAYS AS (price_cents / 100.0) VIRTUAL"

  def change
    create_table :makers do |t|
      t.string :name, null: false, index: { unique: true }
      t.integer :widgets_count, null: false, default: 0
      t.timestamps
    end

    create_table :widgets do |t|
      t.string :type
      t.string :name, null: false
      t.string :slug
      t.references :maker, foreign_key: true
      t.integer :state, null: false, default: 0
      t.string :kind, limit: 1
      t.integer :volts
      t.integer :price_cents, null: false, default: 0
      t.column :price, PRICE
      t.timestamps
      t.index %i[maker_id name], unique: true
      t.index :slug, where: "slug IS NOT NULL", name: "index_widgets_on_present_slug"
    end
  end
end
