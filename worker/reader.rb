# frozen_string_literal: true

module Coatepec
  # A fork of the worker that answers what the app is made of. A process of its own, so that nothing that reading does
  # to it (a connection, a constant, a hang) stays in what runs are forked from, and so that reading need not wait for a
  # run.
  class Reader
    include Questions

    def initialize(socket, out, err)
      @wire = Wire.over(socket)
      @out = out
      @err = err
    end

    def run
      Process.setproctitle("coatepec reader")
      Fork.close_listening
      Fork.redirect(@out, @err)
      parts = %w[reading/place reading/text reading/names reading/unloaded reading/attempts reading/route_table]
      ["reading", *parts].each { |name| Coatepec.load_part(name) }
      @wire.tell("loaded", seconds: 0, features: [], versions: Boot.versions)
      serve { |name, fields, _ios| name == :read ? read(fields) : answer_common(name, fields) }
    end

    private

    def read(fields)
      @wire.answer("read", result: Reading.call(fields.fetch(:what), fields.fetch(:arguments)))
    rescue Reading::Refused => e
      @wire.answer("not_read", code: e.code, message: e.message, hint: e.hint)
    rescue Exception => e # rubocop:disable Lint/RescueException -- whatever the app raises is an answer
      @wire.answer("read_failed", error: Reading::Text.failure(e))
    ensure
      # Nobody who drops or locks the database is kept waiting by a process that only looks.
      Fork.disconnect
    end
  end
end
