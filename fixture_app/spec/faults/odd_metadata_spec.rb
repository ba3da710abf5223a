# Passes, and leaves values in its metadata that no formatter expects. Plain: rc 0, 3 examples.
RSpec.describe "A spec that is nowhere and took no time" do
  around { |example| example.run && example.metadata.merge!(line_number: nil, file_path: nil) }

  it("passes") { expect(1).to eq(1) }
  it("passes before the first line") { |example| example.metadata[:line_number] = -1 }
  it("passes in a fraction") { |example| example.execution_result.run_time = 1.quo(3) }
end
