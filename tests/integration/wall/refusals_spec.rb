# frozen_string_literal: true

# Meets the sandbox in various ways, and goes on as if nothing had been.
require "json"
require "socket"

RSpec.describe "A spec that is refused" do
  facts = JSON.parse(File.read("tmp/facts.json"))
  home, keyctl, other = facts.values_at("home", "keyctl", "other")
  meet = lambda do |&act|
    act.call
    raise "it was let through"
  rescue SystemCallError
    nil
  end

  # Stubbed: what notices refusals must not use what a test replaces.
  before do
    allow(File).to receive_messages(exist?: false, readable?: false, writable?: false)
    allow(File).to receive(:realpath).and_raise("stubbed")
  end

  it("writes to the home") { meet.call { File.write("#{home}/.profile", "x") } }
  it("reads a key again and again") { 3.times { meet.call { File.read("#{home}/.ssh/id") } } }
  it("makes a directory") { Dir.chdir("tmp") { meet.call { Dir.mkdir("../.git/made") } } }
  it("renames") { File.write("tmp/renamed", "") && meet.call { File.rename("tmp/renamed", ".git/renamed") } }
  it("deletes") { meet.call { File.delete(".git/description") } }
  it("goes through a link") { File.symlink(other, "tmp/away") && meet.call { File.write("tmp/away/app.rb", "x") } }
  it("calls the kernel") { 2.times { meet.call { Kernel.syscall(keyctl, 999, 0) } } }
  it("wants to see all packets") { meet.call { Socket.new(17, :DGRAM, 0) } }

  it("starts a program that reads") { system("cat", "#{home}/.aws/credentials", "tmp/facts.json", out: File::NULL) }
  it("starts a program that writes") { system("sh", "-c", "echo x > .git/description") }
  it("starts a program that says what is no file") { warn("may: Permission denied", "Permission denied: '/missing/x'") }

  it "meets what is no refusal of the sandbox" do
    meet.call { File.read("tmp/missing") }
    meet.call { Dir.mkdir("tmp") }
    meet.call { raise SystemCallError.new("tmp/facts.json", Errno::EACCES::Errno, "rb_sysopen") }
    meet.call { raise Errno::EACCES, "#{home}/.profile" }
    meet.call { raise SystemCallError.new("#{home}/missing/x", Errno::EACCES::Errno, "rb_sysopen") }
    meet.call { raise SystemCallError.new("tmp/\xff(", Errno::EACCES::Errno, "rb_sysopen") }
  end
end
