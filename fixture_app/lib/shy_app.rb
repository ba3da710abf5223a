# A Rack app that cannot be inspected, as some proxies can't.
class ShyApp
  def call(_env)
    [ 204, {}, [] ]
  end

  def inspect
    raise NotImplementedError, "this app does not show itself"
  end
end
