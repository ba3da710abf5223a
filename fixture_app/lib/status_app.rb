# A plain Rack app, mounted in the routes.
class StatusApp
  def call(_env)
    [ 200, { "content-type" => "text/plain" }, [ "ok" ] ]
  end
end
