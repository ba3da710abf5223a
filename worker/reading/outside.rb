# frozen_string_literal: true

module Coatepec
  module Reading
    # What works outside of a request: a job, a mailer or a channel. Each of its facts (methods below) is told by
    # itself: what one can't tell, the others can.
    class Outside
      include Attempts

      PARAMETERS = { req: "required", opt: "optional", rest: "rest", keyreq: "keyword_required", key: "keyword",
                     keyrest: "keyword_rest", block: "block" }.freeze

      def initialize(klass)
        @klass = klass
      end

      def to_h
        found = self.class::FACTS.to_h { |name| [name, attempt(name) { Text.data(send(name)) }] }
        found[:errors] = errors
        found.reject { |_name, value| value.nil? || value == [] || value == {} }
      end

      private

      attr_reader :klass

      # @return [Array<Hash>] names and kinds, in order
      def parameters(name)
        found = Plain.instance_method(klass, name).parameters
        found.map { |kind, parameter| { name: parameter&.to_s, kind: PARAMETERS.fetch(kind, kind.to_s) }.compact }
      end

      # Where it is, unless it is Rails' own.
      def place_of(name)
        place = Place.of_method(klass, name)
        place unless Callbacks.rails?(place)
      end

      # Handlers with the names of their exceptions, in the order in which Rails asks them: the last one first.
      def handlers
        grouped = klass.rescue_handlers.group_by(&:last).map { |handler, pairs| [handler, pairs.map(&:first)] }
        grouped.reverse.map { |handler, names| [handler, names.map { |name| Text.text(name.to_s) }] }
      end

      def of_rails?(handler) = handler.is_a?(Proc) && Callbacks.rails?(Place.of(handler))

      def rescue_from
        own = handlers.reject { |handler, _names| of_rails?(handler) }
        own.map { |handler, names| { exceptions: names, with: Text.callable(handler) } }
      end
    end

    # A job of ActiveJob.
    class JobClass < Outside
      FACTS = %i[queue_name queue_priority queue_adapter perform arguments retry_on discard_on after_discard rescue_from
                 callbacks].freeze
      # What the block knows that `retry_on` leaves behind.
      RETRIES = %i[attempts wait queue priority].freeze

      # A name, or where the block is that would compute it. It is not run.
      def queue_name
        name = klass.queue_name
        return Text.value(name) unless name.is_a?(Proc)

        Callbacks.rails?(Place.of(name)) ? klass.queue_name_from_part(nil) : Text.callable(name)
      end

      private

      def queue_priority = klass.priority.is_a?(Proc) ? Text.callable(klass.priority) : Text.value(klass.priority)

      def queue_adapter = Text.value(klass.queue_adapter_name)

      def perform = place_of(:perform)

      def arguments = Callbacks.rails?(Place.of_method(klass, :perform)) ? [] : parameters(:perform)

      def retry_on
        macros.select { |handler, _names| retries?(handler) }.map do |handler, names|
          block = handler.binding
          known = RETRIES.select { |name| block.local_variable_defined?(name) }
          options = known.to_h { |name| [name, Text.value(block.local_variable_get(name))] }
          { exceptions: names, **options, jitter: jitter(block), at: declared("retry_on", names) }.compact
        end
      end

      def discard_on
        macros.reject { |handler, _names| retries?(handler) }.map do |_handler, names|
          { exceptions: names, at: declared("discard_on", names) }.compact
        end
      end

      # Unless it is the app's: Rails marks that by an object of no value.
      def jitter(block)
        value = block.local_variable_get(:jitter) if block.local_variable_defined?(:jitter)
        case value
        when Numeric then Text.value(value)
        end
      end

      # From Rails 7.1 on.
      def after_discard
        return unless Plain.responds?(klass, :after_discard_procs)

        klass.after_discard_procs.map { |block| Text.callable(block) }
      end

      # Both are handlers that Rails writes.
      def macros = handlers.select { |handler, _names| of_rails?(handler) }

      def retries?(handler) = handler.binding.local_variable_defined?(:attempts)

      # Within the class, an exception may stand without the names around it.
      def declared(macro, names) = Declared.at(klass, [macro], names.first.split("::").last.to_s)

      def callbacks = Callbacks.of(klass, %i[enqueue perform])
    end

    # A mailer.
    class MailerClass < Outside
      FACTS = %i[actions default layout delivery_method delivery_job rescue_from callbacks].freeze
      # What every mail has.
      DEFAULTS = { mime_version: "1.0", charset: "UTF-8", content_type: "text/plain",
                   parts_order: ["text/plain", "text/enriched", "text/html"] }.freeze
      # Of one action.
      VIEWS = 20

      private

      def actions
        klass.action_methods.sort.map do |name|
          { name: name, at: Place.of_method(klass, name), arguments: parameters(name), views: views(name) }
            .reject { |_key, value| value.nil? || value == [] }
        end
      end

      # Of the app; those of gems are theirs.
      def views(action)
        roots = klass.view_paths.map(&:to_s).select { |path| path.start_with?(Coatepec.root) }
        pattern = "#{klass.mailer_name}/#{action}.*"
        found = roots.flat_map { |root| Dir.glob(pattern, base: root).map { |file| File.join(root, file) } }
        found.sort.first(VIEWS).map { |file| Text.text(file) }
      end

      def default = Text.options(klass.default_params.reject { |name, value| DEFAULTS[name.to_sym] == value })

      # As it is declared; nil if the name decides.
      def layout
        declared = klass._layout
        declared ? Text.callable(declared) : declared
      end

      def delivery_method = Text.value(klass.delivery_method)

      def delivery_job = Text.class_name(klass.delivery_job)

      def callbacks = Callbacks.of(klass, klass.__callbacks.keys)
    end

    # A channel of ActionCable.
    class ChannelClass < Outside
      FACTS = %i[actions subscribed unsubscribed streams periodic rescue_from callbacks].freeze
      HOOKS = %w[subscribed unsubscribed].freeze

      private

      def actions
        names = (klass.action_methods.to_a - HOOKS).sort
        names.map { |name| { name: name, at: Place.of_method(klass, name) }.compact }
      end

      def subscribed = place_of(:subscribed)

      def unsubscribed = place_of(:unsubscribed)

      # As they are written: what they are called is known only to who subscribes.
      def streams = Declared.lines_of(klass, /\A\s*(stream_(?:from|for)\b.*)/)

      def periodic
        klass.periodic_timers.map { |callback, options| { callback: Text.callable(callback), **Text.options(options) } }
      end

      def rescue_from = Plain.responds?(klass, :rescue_handlers) ? super : []

      def callbacks = Callbacks.of(klass, %i[subscribe unsubscribe])
    end
  end
end
