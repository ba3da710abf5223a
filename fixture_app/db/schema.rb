# This file is auto-generated from the current state of the database. Instead
# of editing this file, please use the migrations feature of Active Record to
# incrementally modify your database, and then regenerate this schema definition.
#
# This file is the source Rails uses to define your schema when running `bin/rails
# db:schema:load`. When creating a new database, `bin/rails db:schema:load` tends to
# be faster and is potentially less error prone than running all of your
# migrations from scratch. Old migrations may fail to apply correctly if those
# migrations use external dependencies or application code.
#
# It's strongly recommended that you check this file into your version control system.

ActiveRecord::Schema[7.1].define(version: 2024_01_06_090000) do
  create_table "billing_invoices", force: :cascade do |t|
    t.string "number", null: false
    t.integer "amount_cents", null: false
    t.string "status", default: "open", null: false
    t.datetime "paid_at"
    t.datetime "created_at", null: false
    t.datetime "updated_at", null: false
    t.index ["number"], name: "index_billing_invoices_on_number", unique: true
  end

  create_table "catalog_placements", force: :cascade do |t|
    t.integer "shelf_id", null: false
    t.integer "widget_id", null: false
    t.index ["shelf_id"], name: "index_catalog_placements_on_shelf_id"
    t.index ["widget_id"], name: "index_catalog_placements_on_widget_id"
  end

  create_table "catalog_shelves", force: :cascade do |t|
    t.string "name", null: false
  end

  create_table "comments", force: :cascade do |t|
    t.string "commentable_type", null: false
    t.integer "commentable_id", null: false
    t.text "body", null: false
    t.datetime "created_at", null: false
    t.datetime "updated_at", null: false
    t.index ["commentable_type", "commentable_id"], name: "index_comments_on_commentable"
  end

  create_table "legacy_imports", force: :cascade do |t|
    t.string "file_name"
  end

  create_table "line_items", primary_key: ["order_ref", "position"], force: :cascade do |t|
    t.string "order_ref", null: false
    t.integer "position", null: false
    t.integer "widget_id", null: false
    t.integer "quantity", default: 1, null: false
    t.integer "unit_cents", default: 0, null: false
  end

  create_table "line_notes", force: :cascade do |t|
    t.string "order_ref", null: false
    t.integer "position", null: false
    t.string "text", null: false
    t.index ["order_ref", "position"], name: "index_line_notes_on_order_ref_and_position"
  end

  create_table "makers", force: :cascade do |t|
    t.string "name", null: false
    t.integer "widgets_count", default: 0, null: false
    t.datetime "created_at", null: false
    t.datetime "updated_at", null: false
    t.index ["name"], name: "index_makers_on_name", unique: true
  end

  create_table "ops_things", force: :cascade do |t|
    t.string "code", null: false
    t.integer "parent_id"
    t.index ["code"], name: "index_ops_things_on_code", unique: true
    t.index ["parent_id"], name: "index_ops_things_on_parent_id"
  end

  create_table "orders", primary_key: "ref", id: :string, force: :cascade do |t|
    t.datetime "created_at", null: false
    t.datetime "updated_at", null: false
  end

  create_table "parts", force: :cascade do |t|
    t.integer "widget_id", null: false
    t.integer "supplier_id", null: false
    t.integer "grade", default: 0, null: false
    t.integer "quantity", default: 1, null: false
    t.datetime "created_at", null: false
    t.datetime "updated_at", null: false
    t.index ["supplier_id"], name: "index_parts_on_supplier_id"
    t.index ["widget_id"], name: "index_parts_on_widget_id"
  end

  create_table "suppliers", force: :cascade do |t|
    t.string "name", null: false
    t.datetime "created_at", null: false
    t.datetime "updated_at", null: false
  end

  create_table "tags", force: :cascade do |t|
    t.string "label", null: false
    t.index ["label"], name: "index_tags_on_label", unique: true
  end

  create_table "tags_widgets", id: false, force: :cascade do |t|
    t.integer "tag_id", null: false
    t.integer "widget_id", null: false
    t.index ["tag_id", "widget_id"], name: "index_tags_widgets_on_tag_id_and_widget_id", unique: true
    t.index ["widget_id"], name: "index_tags_widgets_on_widget_id"
  end

  create_table "widgets", force: :cascade do |t|
    t.string "type"
    t.string "name", null: false
    t.string "slug"
    t.integer "maker_id"
    t.integer "state", default: 0, null: false
    t.string "kind", limit: 1
    t.integer "volts"
    t.integer "price_cents", default: 0, null: false
    t.column "price", "decimal GENERATED ALWAYS AS (price_cents / 100.0) VIRTUAL"
    t.datetime "created_at", null: false
    t.datetime "updated_at", null: false
    t.index ["maker_id", "name"], name: "index_widgets_on_maker_id_and_name", unique: true
    t.index ["maker_id"], name: "index_widgets_on_maker_id"
    t.index ["slug"], name: "index_widgets_on_present_slug", where: "slug IS NOT NULL"
  end

  add_foreign_key "catalog_placements", "catalog_shelves", column: "shelf_id"
  add_foreign_key "catalog_placements", "widgets"
  add_foreign_key "line_items", "orders", column: "order_ref", primary_key: "ref"
  add_foreign_key "line_items", "widgets"
  add_foreign_key "ops_things", "ops_things", column: "parent_id"
  add_foreign_key "parts", "suppliers"
  add_foreign_key "parts", "widgets", on_delete: :cascade
  add_foreign_key "widgets", "makers"
end
