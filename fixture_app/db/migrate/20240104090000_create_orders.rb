class CreateOrders < ActiveRecord::Migration[7.1]
  def change
    create_table :orders, id: false do |t|
      t.string :ref, primary_key: true
      t.timestamps
    end

    create_table :line_items, primary_key: %i[order_ref position] do |t|
      t.string :order_ref, null: false
      t.integer :position, null: false
      # No index on purpose: a key column that every lookup has to scan for.
      t.references :widget, null: false, foreign_key: true, index: false
      t.integer :quantity, null: false, default: 1
      t.integer :unit_cents, null: false, default: 0
      t.foreign_key :orders, column: :order_ref, primary_key: :ref
    end

    create_table :line_notes do |t|
      t.string :order_ref, null: false
      t.integer :position, null: false
      t.string :text, null: false
      t.index %i[order_ref position]
    end
  end
end
