class CreateEvents < ActiveRecord::Migration[7.1]
  def change
    create_table :events do |t|
      t.string :name, null: false
      t.text :details
      t.timestamps
      t.index :created_at
    end
  end
end
