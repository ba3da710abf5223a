# frozen_string_literal: true

# A page of a server of its own, as a browser makes it.
require "json"
require "socket"
require "tmpdir"

RSpec.describe "A spec with a browser" do
  page = "<p>written</p><script>document.body.append('scri' + 'pted')</script>"
  answer = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: #{page.bytesize}\r\nConnection: close\r\n\r\n#{page}"
  browser = JSON.parse(File.read("tmp/facts.json"))["browser"]

  def serve(answer)
    server = TCPServer.new("127.0.0.1", 0)
    serving = Thread.new do
      loop do
        server.accept.tap { |client| client.readpartial(4096) && client.write(answer) }.close
      rescue EOFError
        next
      end
    end
    yield "http://127.0.0.1:#{server.addr[1]}/"
  ensure
    serving.kill
    server.close
  end

  def dump(browser, url, *options)
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", *options, "--dump-dom", url]
    IO.popen(command, err: "tmp/browser.log", &:read)
  end

  it "has no profile" do
    serve(answer) { |url| expect(dump(browser, url)).to include("scripted"), File.read("tmp/browser.log") }
  end

  it "has a profile among temporary files" do
    Dir.mktmpdir do |dir|
      serve(answer) { |url| expect(dump(browser, url, "--user-data-dir=#{dir}")).to include("scripted") }
    end
  end
end
