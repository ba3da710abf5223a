require "rails_helper"

RSpec.describe Comment do
  it "is about a widget" do
    comment = create(:comment)

    expect(comment.commentable.latest_comment).to eq(comment)
  end

  it "may be about a maker too" do
    maker = create(:maker)

    expect(create(:comment, commentable: maker).reload.commentable).to eq(maker)
  end
end
