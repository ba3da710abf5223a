class CreatePartsTagsAndComments < ActiveRecord::Migration[7.1]
  def change
    create_table :suppliers do |t|
      t.string :name, null: false
      t.timestamps
    end

    create_table :parts do |t|
      t.references :widget, null: false, foreign_key: { on_delete: :cascade }
      t.references :supplier, null: false, foreign_key: true
      t.integer :grade, null: false, default: 0
      t.integer :quantity, null: false, default: 1
      t.timestamps
    end

    create_table :tags do |t|
      t.string :label, null: false, index: { unique: true }
    end

    create_join_table :tags, :widgets do |t|
      t.index %i[tag_id widget_id], unique: true
      t.index :widget_id
    end

    create_table :comments do |t|
      t.references :commentable, null: false, polymorphic: true
      t.text :body, null: false
      t.timestamps
    end
  end
end
