# frozen_string_literal: true

require_relative "reading_helper"

# Classes that have methods of their own in the place of Ruby's, and raise there: nobody asks them, and nobody else is
# harmed.
class HostileTest < Minitest::Test
  include Asking

  # What Rails itself does not ask a class for in order to tell of it.
  METHODS = %i[to_s inspect hash eql? equal? === =~ is_a? kind_of? instance_of? class ancestors subclasses
               descendants < <= > >= <=> instance_method instance_methods method_defined? private_method_defined?
               private_instance_methods public_instance_methods singleton_methods singleton_class included_modules
               const_defined? const_get constants const_missing autoload? instance_variables instance_variable_get
               instance_variable_set method methods respond_to_missing?].freeze
  # What Rails asks for, each with what then can't be told.
  NEEDED_ELSEWHERE = %i[public_instance_methods hash eql?].freeze
  NEEDED = %i[name == superclass respond_to? ancestors public_instance_methods].freeze

  def test_a_model_is_told_whatever_it_makes_of_the_methods_of_ruby
    plain = hostile("ApplicationRecord", []) { [model("Odd", *FIELDS), *everybody] }
    told = hostile("ApplicationRecord", METHODS) { [model("Odd", *FIELDS), *everybody] }
    plain.zip(told) { |one, other| assert_equal(one.except(:errors), other.except(:errors)) }
    assert_equal(plain.first[:errors], told.first[:errors])
  end

  def test_each_method_that_rails_needs_costs_its_own_class_only
    others = everybody
    NEEDED.each do |name|
      told = hostile("ApplicationRecord", [name]) do
        assert_equal("Odd", model("Odd", *FIELDS)[:name], name)
        everybody
      end
      assert_equal(others, told, name)
    end
  end

  def test_controllers_jobs_and_mailers_are_told_all_the_same
    controller = -> { ask("controller", name: "Odd").except(:at) }
    job = -> { ask("job", name: "Odd")[:classes].first }
    { "ApplicationController" => controller, "ApplicationJob" => job, "ApplicationMailer" => job,
      "ApplicationCable::Channel" => job }.each do |base, question|
      plain = hostile(base, [], &question)
      assert_equal(plain, hostile(base, METHODS - NEEDED_ELSEWHERE, &question), base)
    end
  end

  # Rails refuses it as it is loaded, and Ruby then says that there is no such constant.
  def test_a_class_that_can_not_be_loaded_because_of_one_is_told_with_what_it_raised
    file = "#{ROOT}/app/models/hostile.rb"
    %w[hash is_a? singleton_class].each do |name|
      File.write(file, "class Hostile < ApplicationRecord\n  class << self\n    def #{name}(*) = raise('no #{name}')\n  end\nend\n")
      again
      assert_equal("`app/models/hostile.rb` can't be loaded: RuntimeError: no #{name}", refused("model", name: "Hostile").message)
      assert_includes(ask("model")[:models].map { |row| row[:name] }, "Widget")
    end
  ensure
    FileUtils.rm_f(file)
    again
  end

  private

  # The model of all others and what fits them.
  def everybody
    [{ models: ask("model", limit: 200)[:models].reject { |row| row[:name] == "Odd" } }, model("Widget", *FIELDS)]
  end

  def hostile(base, methods)
    Object.const_set(:Odd, odd = Class.new(base.constantize))
    methods.each { |name| odd.define_singleton_method(name) { |*| Kernel.raise("hostile #{name}") } }
    yield
  ensure
    singleton = Coatepec::Plain.singleton_class(odd)
    methods.each { |name| singleton.send(:remove_method, name) }
    Object.send(:remove_const, :Odd)
  end

  # As a new reader finds the app after the worker has loaded it again.
  def again
    ask("model", limit: 1)
    Rails.application.reloader.reload!
    Coatepec::Boot.send(:eager_load)
    { Unloaded: %i[@files @tried], Database: %i[@derived] }.each do |part, all|
      all.each { |name| Coatepec::Reading.const_get(part).instance_variable_set(name, nil) }
    end
  end
end
