# frozen_string_literal: true

require_relative "worker_helper"

# The fixture app itself, booted here, from a copy, with databases of its own, to be asked as the reader asks it.
TREE = Started::TREE
ROOT = File.realpath(Dir.mktmpdir("coatepec-reading-"))
FileUtils.cp_r(Dir.children("#{TREE}/fixture_app").map { |name| "#{TREE}/fixture_app/#{name}" }, ROOT)
FileUtils.rm_rf(Dir["#{ROOT}/storage/*"])
Minitest.after_run { FileUtils.rm_rf(ROOT) }
# Here all is done in one process, which has to let go of classes.
settings = "#{ROOT}/config/environments/test.rb"
File.write(settings, File.read(settings).sub("enable_reloading = false", "enable_reloading = true"))
Dir.chdir(ROOT)
ENV["RAILS_ENV"] = "test"

load "#{TREE}/worker.rb"
sources = Dir.glob("worker/**/*.rb", base: TREE).to_h { |file| [file, File.read("#{TREE}/#{file}")] }
Coatepec.instance_variable_set(:@sources, sources)
parts = %w[json record failure plain ahead compiled databases guard patterns tables traces boot fork]
parts += %w[reading reading/place reading/text reading/names reading/unloaded reading/attempts reading/route_table]
parts.each { |part| Coatepec.load_part(part) }
Coatepec::Boot.call(ROOT, "config/environment.rb")

# Asking as the reader does.
module Asking
  FIELDS = %w[columns associations validators enums scopes callbacks indexes foreign_keys attributes sti concerns
              methods].freeze

  def ask(what, **arguments)
    Coatepec::Json.parse(Coatepec::Json.line(Coatepec::Reading.call(what, arguments)))
  ensure
    Coatepec::Fork.disconnect
  end

  def model(name, *fields) = ask("model", name: name, fields: fields.map(&:to_s)).fetch(:models).first

  def refused(what, **arguments)
    assert_raises(Coatepec::Reading::Refused) { ask(what, **arguments) }
  end

  def execute(*statements)
    pool = ActiveRecord::Base.connection_pool
    pool.with_connection { |connection| statements.each { |sql| connection.execute(sql) } }
  ensure
    Coatepec::Fork.disconnect
  end
end

module Databases
  class << self
    def make
      ActiveRecord::Schema.verbose = false
      ActiveRecord::Migration.suppress_messages do
        ActiveRecord::Tasks::DatabaseTasks.load_schema_current(:ruby, nil, "test")
      end
      ActiveRecord::Base.establish_connection(:test)
      Coatepec::Fork.disconnect
    end
  end
end
Databases.make
