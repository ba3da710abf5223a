# Tests that several classes share.
module SluggableTests
  def test_it_has_a_slug
    assert_predicate sluggable.tap(&:save!).slug, :present?
  end
end
