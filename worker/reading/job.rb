# frozen_string_literal: true

%w[declared callbacks page outside].each do |name|
  Coatepec.load_part("reading/#{name}") unless Coatepec::Reading.const_defined?(name.capitalize, false)
end

module Coatepec
  module Reading
    # Jobs, mailers and channels: what works outside of a request.
    module Job
      # With the class that each kind inherits from, if the app has its framework, and what tells of it.
      KINDS = { "job" => ["ActiveJob::Base", JobClass], "mailer" => ["ActionMailer::Base", MailerClass],
                "channel" => ["ActionCable::Channel::Base", ChannelClass] }.freeze

      class << self
        def call(arguments)
          Declared.fresh
          name, kind = arguments.values_at(:name, :kind)
          name ? { classes: [find(name, kind)] } : list(arguments)
        end

        private

        def find(name, kind)
          found = bases(kind).filter_map { |one, base| (klass = Names.find(name, base)) && [one, klass] }
          refuse(name, kind) if found.empty?

          kind, klass = found.first
          { kind: kind, name: Plain.name(klass), at: Place.of_module(klass), **KINDS[kind].last.new(klass).to_h }
        end

        # With what resembles the name, of whatever kind.
        def refuse(name, kind)
          known = bases(kind)
          raise Refused.new("job_not_found", "the app does not load the framework of a #{kind}") if known.empty?

          _kind, base = known.find { |_kind, one| Names.near(name, names(one)).any? } || known.first
          Names.refuse("job_not_found", kind || "job, mailer or channel", name, Names.all(base))
        end

        def names(base) = Names.all(base).map { |klass| Plain.name(klass) }

        def bases(kind)
          wanted = kind ? KINDS.slice(kind) : KINDS
          wanted.filter_map { |one, (base, _part)| (found = base.safe_constantize) && [one, found] }
        end

        def list(arguments)
          rows = bases(arguments[:kind]).flat_map { |kind, base| Names.all(base).map { |klass| row(kind, klass) } }
          query = arguments[:query]&.downcase
          rows.select! { |row| row.values.any? { |value| value.to_s.downcase.include?(query) } } if query
          Page.of(:classes, rows, arguments) { |row| row.values_at(:kind, :name) }.merge(Unloaded.told)
        end

        def row(kind, klass)
          { kind: kind, name: Plain.name(klass), queue_name: (queue_name(klass) if kind == "job"),
            at: Place.of_module(klass) }.compact
        end

        # One class that can't tell its queue keeps nobody from being listed.
        def queue_name(klass)
          Text.data(JobClass.new(klass).queue_name)
        rescue Trouble
          nil
        end
      end
    end
  end
end
