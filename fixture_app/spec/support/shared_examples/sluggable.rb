RSpec.shared_examples "something with a slug" do
  it "has a slug once it is saved" do
    subject.save!

    expect(subject.slug).to eq(Slugger.call(subject.name))
  end

  it "keeps its slug when it is renamed" do
    subject.save!

    expect { subject.update!(name: "Quite another name") }.not_to change(subject, :slug)
  end
end
