require "test_helper"
require "net/http"
require "puma"
require "puma/server"

# As system tests do it: a server in a thread of the test process, which sees what the test has not committed.
class PagesSystemTest < ActiveSupport::TestCase
  setup do
    @server = Puma::Server.new(Rails.application, nil, { min_threads: 0, max_threads: 1, log_writer: Puma::LogWriter.null })
    @port = @server.add_tcp_listener("127.0.0.1", 0).addr[1]
    @server.run
  end

  teardown { @server.stop(true) }

  test "the page is there" do
    assert_equal "200", get("/").code
  end

  test "the list shows what was made" do
    widget = create(:widget, name: "Big Wheel")
    assert_includes get("/widgets").body, widget.name
  end

  private

  def get(path) = Net::HTTP.new("127.0.0.1", @port).get(path, { "accept" => "text/html" })
end
