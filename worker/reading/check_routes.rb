# frozen_string_literal: true

module Coatepec
  module Reading
    # Routes held against controllers. What a gem draws or defines is the gem's affair.
    module CheckRoutes
      class << self
        def look(findings)
          return unless defined?(::ActionController::Metal)
          return unless findings.wants?("route_without_controller", "route_without_action", "action_without_route")

          routes = RouteTable.all.first.select { |route| route.controller && route.action }
          routes_by_controller(routes).each { |path, found| findings.look(path) { routes(findings, path, found) } }
          Controller.all.each { |klass| findings.look(Text.class_name(klass)) { actions(findings, klass, routes) } }
        end

        private

        # Without those that take whatever name comes.
        def routes_by_controller(routes)
          routes.select { |route| mine?(route) }.group_by(&:controller).except(":controller")
        end

        # Where Rails doesn't know who drew a route, engines are taken for somebody else's.
        def mine?(route)
          located? ? Place.own?(route.at) : route.engine.nil?
        end

        def located? = ::ActionDispatch::Routing::Mapper.respond_to?(:route_source_locations)

        def routes(findings, path, routes)
          name = "#{path}_controller".camelize
          klass = Names.find(name, ::ActionController::Metal)
          return without_controller(findings, name, routes) unless klass

          Controller::Actions.new(klass, routes).missing.each do |one|
            subject = "#{path}##{one[:action]}"
            message = "#{shown(one[:routes].first)} leads to `#{subject}`, and `#{name}` has no such method or template"
            findings.add("route_without_action", subject, message, one[:at])
          end
        end

        def without_controller(findings, name, routes)
          route = routes.first
          message = "#{shown(route.to_h)} leads to `#{name}`, which does not exist"
          findings.add("route_without_controller", name, message, route.at)
        end

        def shown(route) = "#{route[:verb].empty? ? "ANY" : route[:verb]} #{route[:path]}"

        # Public methods of a class whose subclasses may have routes for them are left alone.
        def actions(findings, klass, routes)
          return unless Place.own?(Place.of_module(klass)) && Plain.subclasses(klass).empty?

          path = klass.controller_path
          leading = routes.select { |route| Controller.leads_to?(route, path) }
          Controller::Actions.new(klass, leading).unroutable.each do |name|
            action(findings, klass, name) if Plain.same?(Plain.instance_method(klass, name).owner, klass)
          end
        end

        def action(findings, klass, name)
          subject = "#{klass.controller_path}##{name}"
          message = "`#{Text.class_name(klass)}##{name}` is public, and no route leads to it"
          findings.add("action_without_route", subject, message, Place.of_method(klass, name))
        end
      end
    end
  end
end
