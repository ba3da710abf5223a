# Is not Ruby.
class SyntaxErrorTest < InOrder
  def test_it
