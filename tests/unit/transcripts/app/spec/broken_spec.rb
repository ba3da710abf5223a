# frozen_string_literal: true

raise "not to be loaded"
