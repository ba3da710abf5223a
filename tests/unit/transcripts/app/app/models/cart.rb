# frozen_string_literal: true

class Cart; end
