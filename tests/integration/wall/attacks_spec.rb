# frozen_string_literal: true

# Tries what a sandbox is to stop, and writes down what came of each act: "done", or the name of the error. Only the test
# that put it here knows which of them are to be refused.
require "json"
require "socket"

RSpec.describe "A spec that attacks" do
  facts = JSON.parse(File.read("tmp/facts.json"))
  home, other, server, victim = facts.values_at("home", "other", "server", "victim")
  agent = facts["agent"]
  talk = ->(path) { UNIXSocket.new(path).close }
  serve = lambda { |server, client|
    asking = Thread.new(&client)
    server.accept.close
    asking.value
  }
  scratch = ->(name) { "tmp/#{name}".tap { |path| File.write(path, "scratch") } }

  acts = {
    "writes_a_hook" => -> { File.write(".git/hooks/pre-commit", "#!/bin/sh") },
    "writes_into_git" => -> { File.write(".git/HEAD", "x", mode: "a") },
    "cuts_off_a_file_of_git" => -> { File.truncate(".git/index", 0) },
    "renames_into_git" => -> { File.rename(scratch.call("renamed"), ".git/renamed") },
    "links_into_git" => -> { File.link(scratch.call("linked"), ".git/linked") },
    "deletes_of_git" => -> { File.delete(".git/description") },
    "makes_a_lock_of_git" => -> { File.open(".git/index.lock", File::CREAT | File::EXCL).close },
    "moves_git_away" => -> { File.rename(".git", "tmp/git") && File.rename("tmp/git", ".git") },
    "writes_the_settings" => -> { File.write(".coatepec.yml", "", mode: "a") },
    "replaces_the_settings" => lambda {
      settings = File.read(".coatepec.yml")
      File.rename(scratch.call("settings").tap { |path| File.write(path, settings) }, ".coatepec.yml")
    },
    "writes_instructions_for_agents" => -> { File.write("CLAUDE.md", "x", mode: "a") },
    "configures_an_agent" => -> { File.write(".claude/settings.json", "x", mode: "a") },
    "gives_agents_a_server" => -> { File.write(".mcp.json", "x", mode: "a") },
    "gives_an_editor_a_task" => -> { File.write(".vscode/tasks.json", "x", mode: "a") },
    "gives_a_shell_something_to_run" => -> { File.write(".envrc", "x", mode: "a") },
    "makes_instructions_for_agents" => -> { File.write("AGENTS.md", "x") },
    "writes_to_the_start_of_a_shell" => -> { File.write("#{home}/.bashrc", "x") },
    "opens_a_descriptor_anew" => lambda {
      File.open(".git/HEAD") { |file| File.write("/proc/self/fd/#{file.fileno}", "x", mode: "a") }
    },
    "writes_what_the_server_dumps" => -> { File.write("/proc/#{server}/coredump_filter", "0x33") },
    "writes_into_the_servers_memory" => -> { File.open("/proc/#{server}/mem", "r+").close },
    "races_with_a_link" => lambda {
      before = File.read(".git/HEAD")
      FileUtils.rm_f(%w[tmp/one tmp/two])
      swapping = Thread.new do
        loop do
          File.symlink("../.git/HEAD", "tmp/one") && File.rename("tmp/one", "tmp/race")
          File.write("tmp/two", "") && File.rename("tmp/two", "tmp/race")
        end
      end
      3000.times do
        File.write("tmp/race", "x", mode: "a")
      rescue SystemCallError
        nil
      end
      swapping.kill.join
      raise Errno::EACCES if File.read(".git/HEAD") == before
    },
    "signals_its_keeper" => lambda {
      pid = Process.ppid
      pid = File.read("/proc/#{pid}/stat")[/.*\) \S+ (\d+)/m, 1].to_i until File.read("/proc/#{pid}/comm") == "coatepec-keeper\n"
      Process.kill(0, pid)
    },
    "writes_to_the_home" => -> { File.write("#{home}/.profile", "x") },
    "makes_a_directory_in_the_home" => -> { Dir.mkdir("#{home}/made") },
    "writes_to_another_project" => -> { File.write("#{other}/app.rb", "x") },
    "writes_through_a_link" => -> { File.symlink(other, "tmp/link") && File.write("tmp/link/app.rb", "x") },
    "writes_through_proc" => -> { File.write("/proc/self/root#{other}/app.rb", "x") },
    "reads_a_key" => -> { File.read("#{home}/.ssh/id") },
    "reads_through_a_link" => -> { File.symlink("#{home}/.ssh", "tmp/keys") && File.read("tmp/keys/id") },
    "reads_through_a_hard_link" => -> { File.link("#{home}/.ssh/id", "tmp/id") && File.read("tmp/id") },
    "reads_through_proc" => -> { File.read("/proc/self/root#{home}/.ssh/id") },
    "reads_of_the_cloud" => -> { File.read("#{home}/.aws/credentials") },
    "reads_of_the_forge" => -> { File.read("#{home}/.config/gh/hosts.yml") },
    "reads_logins" => -> { File.read("#{home}/.netrc") },
    "reads_a_keyring" => -> { File.read("#{home}/.local/share/keyrings/login") },
    "reads_of_containers" => -> { File.read("#{home}/.docker/config.json") },
    "reads_of_the_cluster" => -> { File.read("#{home}/.kube/config") },
    "reads_a_secret_that_came_later" => -> { File.read("#{home}/.gnupg/key") },
    "reads_the_servers_environment" => -> { File.read("/proc/#{server}/environ") },
    "follows_the_servers_files" => -> { File.readlink("/proc/#{server}/fd/0") },
    "signals_the_server" => -> { Process.kill(0, server) },
    "signals_another_process" => -> { Process.kill(:CONT, victim) },
    "talks_to_an_abstract_socket" => -> { UNIXSocket.new("\0#{facts["abstract"]}").close },
    "talks_to_an_agent_for_keys" => -> { talk.call(agent) },
    "talks_to_an_agent_through_a_link" => -> { File.symlink(agent, "tmp/door") && talk.call("tmp/door") },
    "talks_to_an_agent_from_where_it_is" => -> { Dir.chdir(File.dirname(agent)) { talk.call(File.basename(agent)) } },
    "talks_to_an_agent_through_proc" => -> { talk.call("/proc/self/root#{agent}") },
    "talks_to_an_agent_through_a_descriptor" => lambda {
      Dir.open(File.dirname(agent)) { |dir| talk.call("/dev/fd/#{dir.fileno}/#{File.basename(agent)}") }
    },
    "talks_to_an_agent_under_another_name" => lambda {
      away = "/tmp/coatepec-away-#{Process.pid}"
      File.rename(File.dirname(agent), away)
      begin
        talk.call(File.join(away, File.basename(agent)))
      ensure
        File.rename(away, File.dirname(agent))
      end
    },
    "talks_to_an_agent_by_a_child" => lambda {
      raise Errno::EACCES unless system(RbConfig.ruby, "-rsocket", "-e", "UNIXSocket.new(ARGV[0])", agent, err: File::NULL)
    },
    "connects_datagrams_to_an_agent" => -> { Socket.new(:UNIX, :DGRAM).connect(Socket.sockaddr_un("#{agent}.log")) },
    "talks_to_an_agent_in_a_secret_place" => -> { talk.call("#{home}/.ssh/agent") },
    "talks_to_whom_the_environment_names" => -> { talk.call("#{other}/engine.sock") },
    "has_a_token" => -> { ENV.fetch("GITHUB_TOKEN") },
    "has_a_key_of_the_cloud" => -> { ENV.fetch("AWS_SECRET_ACCESS_KEY") },

    "talks_to_a_database_elsewhere" => -> { talk.call("#{other}/database.sock") },
    "talks_to_a_server_of_its_own" => lambda {
      path = "/tmp/coatepec-own-#{Process.pid}"
      serve.call(UNIXServer.new(path), -> { talk.call(path) })
      File.delete(path)
    },
    "talks_to_a_server_of_the_app" => lambda {
      serve.call(UNIXServer.new("tmp/own"), -> { talk.call("/proc/self/cwd/tmp/own") })
    },
    "talks_to_a_server_through_a_descriptor" => lambda {
      server = UNIXServer.new("tmp/described")
      Dir.open("tmp") do |dir|
        ["/dev/fd", "/proc/self/fd", "/proc/#{Process.pid}/fd"].each do |all|
          serve.call(server, -> { talk.call("#{all}/#{dir.fileno}/described") })
        end
      end
    },
    "talks_to_an_abstract_socket_of_its_own" => lambda {
      serve.call(UNIXServer.new("\0own-#{Process.pid}"), -> { talk.call("\0own-#{Process.pid}") })
    },
    "talks_without_blocking" => lambda {
      server = UNIXServer.new("tmp/unblocked")
      Socket.new(:UNIX, :STREAM).connect_nonblock(Socket.sockaddr_un("tmp/unblocked"))
      server.accept
    },
    "waits_for_who_is_slow_to_answer" => lambda {
      server = Socket.new(:UNIX, :STREAM).tap { |one| one.bind(Socket.sockaddr_un("tmp/slow")) && one.listen(0) }
      first = UNIXSocket.new("tmp/slow")
      second = Thread.new { UNIXSocket.new("tmp/slow") }
      2.times { server.accept }
      [first, second.value].each(&:close)
    },
    "is_told_that_nobody_listens" => lambda {
      UNIXServer.new("tmp/left").close
      begin
        talk.call("tmp/left")
      rescue Errno::ECONNREFUSED
        "as it should"
      end
    },
    "is_told_that_nothing_is_there" => lambda {
      begin
        talk.call("tmp/nothing")
      rescue Errno::ENOENT
        "as it should"
      end
    },
    "writes_a_file_of_the_app" => -> { File.write("app/models/made.rb", "") },
    "writes_a_log" => -> { File.write("log/made.log", "x") },
    "writes_the_list_of_examples" => -> { File.write("spec/examples.txt", "x") },
    "makes_a_database" => -> { File.write("db/made.sqlite3-journal", "x") },
    "renames_between_directories" => -> { File.rename(scratch.call("moved"), "storage/moved") },
    "writes_to_tmp" => lambda {
                         File.write("/tmp/coatepec-made-#{Process.pid}", "x").tap do
                           File.delete("/tmp/coatepec-made-#{Process.pid}")
                         end
                       },
    "writes_to_shared_memory" => lambda {
                                   File.write("/dev/shm/coatepec-#{Process.pid}", "x").tap do
                                     File.delete("/dev/shm/coatepec-#{Process.pid}")
                                   end
                                 },
    "writes_to_nowhere" => -> { File.write("/dev/null", "x") },
    "opens_a_terminal" => -> { require("pty") && PTY.open.each(&:close) },
    "listens_on_a_socket" => -> { UNIXServer.new("tmp/socket").close },
    "reads_the_home" => -> { File.read("#{home}/notes") },
    "lists_the_home" => -> { Dir.children(home) },
    "reads_the_settings_of_a_tool" => -> { File.read("#{home}/.gitconfig") },
    "reads_git" => -> { File.read(".git/HEAD") },
    "reads_another_project" => -> { File.read("#{other}/app.rb") },
    "signals_its_own_child" => -> { Process.wait(spawn("sleep", "60").tap { |pid| Process.kill(:KILL, pid) }) },
    "has_its_region" => -> { ENV.fetch("AWS_REGION") }
  }

  came_of = {}
  acts.each do |name, act|
    it name do
      came_of[name] = begin
        act.call
        "done"
      rescue SystemCallError, KeyError => e
        e.class.name
      end
    end
  end

  after(:all) do
    helper = facts["helper"]
    came_of.merge!(JSON.parse(IO.popen([helper["program"], *helper["arguments"]], &:read)[/^WALL (.*)$/, 1])) if helper
    File.write("tmp/came_of.json", JSON.generate(came_of))
  end
end
