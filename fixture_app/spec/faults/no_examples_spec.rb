# Describes something and has no example. Plain: rc 0, 0 examples.
RSpec.describe "A spec without examples" do
end
