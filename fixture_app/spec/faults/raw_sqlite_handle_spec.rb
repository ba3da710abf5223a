# Opens the test database beside Rails, in a child too. Plain: rc 0, 2 examples.
require "rails_helper"

RSpec.describe "A spec with a handle of its own" do
  let(:database) { SQLite3::Database.new(Widget.connection_db_config.database) }

  after { database.close }

  it "does not see what the transaction holds back" do
    create(:widget)

    expect(database.get_first_value("SELECT count(*) FROM widgets")).to eq(0)
  end

  it "opens another in a child" do
    child = fork { exit!(SQLite3::Database.new(Widget.connection_db_config.database).get_first_value("SELECT 1") == 1) }
    Process.wait(child)

    expect($?).to be_success
  end
end
