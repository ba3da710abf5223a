//! Which tests changed files concern: names, references, records, and what everything depends on.

use std::collections::BTreeSet;

use coatepec::project::concerned::{
    Answer, Changed, Code, Confidence, Known, Mentions, Offers, Records, Row, Source, Subject, answer, directories,
    grouped, namesakes, there,
};
use coatepec::project::{Framework, Rules};

#[test]
fn tests_go_by_the_name_of_a_file() {
    for (path, exact, related) in [
        (
            "app/models/ops/thing.rb",
            &["spec/models/ops/thing_spec.rb", "test/models/ops/thing_test.rb"][..],
            &[][..],
        ),
        (
            "app/controllers/admin/widgets_controller.rb",
            &["spec/controllers/admin/widgets_controller_spec.rb"],
            &[
                "spec/requests/admin/widgets_spec.rb",
                "test/integration/admin/widgets_test.rb",
                "spec/system/admin/widgets_spec.rb",
                "spec/routing/admin/widgets_routing_spec.rb",
            ],
        ),
        (
            "app/views/widgets/show.html.erb",
            &[
                "spec/views/widgets/show.html.erb_spec.rb",
                "spec/views/widgets/show.html_spec.rb",
                "spec/views/widgets/show_spec.rb",
            ],
            &[
                "spec/requests/widgets_spec.rb",
                "test/controllers/widgets_controller_test.rb",
            ],
        ),
        (
            "app/views/widget_mailer/went_live.text.erb",
            &[],
            &["spec/mailers/widget_mailer_spec.rb"],
        ),
        (
            "packs/shop/app/models/order.rb",
            &["packs/shop/spec/models/order_spec.rb"],
            &[],
        ),
        (
            "engines/billing/app/jobs/pay_job.rb",
            &["engines/billing/test/jobs/pay_job_test.rb"],
            &[],
        ),
        (
            "gems/money/lib/money/math.rb",
            &[
                "gems/money/spec/money/math_spec.rb",
                "gems/money/spec/lib/money/math_spec.rb",
            ],
            &[],
        ),
        ("lib/tax.rb", &["spec/lib/tax_spec.rb", "test/tax_test.rb"], &[]),
        (
            "lib/tasks/import.rake",
            &["spec/lib/tasks/import_spec.rb", "spec/tasks/import_spec.rb"],
            &[],
        ),
        // `app` and `lib` count as whole names only.
        ("app/models/webapp/page.rb", &["spec/models/webapp/page_spec.rb"], &[]),
    ] {
        let found = namesakes(path);
        let has = |test: &str, exact: bool| found.iter().any(|found| found.path == test && found.exact == exact);
        for test in exact {
            assert!(has(test, true), "{path}: no {test} in {found:#?}");
        }
        for test in related {
            assert!(has(test, false), "{path}: no {test} in {found:#?}");
        }
    }
    for path in ["config/routes.rb", "README.md", "app", "lib", ""] {
        assert_eq!(namesakes(path), [], "{path}");
    }
    assert!(directories("app/controllers/widgets_controller.rb").contains(&"spec/requests/widgets/".to_owned()));
    assert_eq!(directories("app/models/widget.rb"), [""; 0]);
}

#[test]
fn a_constant_follows_from_the_place_of_its_file() {
    for (path, constant) in [
        ("app/models/widget.rb", Some("widget")),
        ("app/services/vat_rate.rb", Some("vatrate")),
        ("app/models/concerns/sluggable.rb", Some("sluggable")),
        (
            "app/controllers/api/v1/widgets_controller.rb",
            Some("api::v1::widgetscontroller"),
        ),
        ("packs/shop/app/models/shop/order.rb", Some("shop::order")),
        ("lib/money/math.rb", Some("money::math")),
        ("lib/tasks/import.rake", None),
        ("app/views/widgets/show.html.erb", None),
    ] {
        assert_eq!(Code::of(path).unwrap().constant().as_deref(), constant, "{path}");
    }
}

#[test]
fn what_a_file_is_to_tests_follows_from_its_place() {
    let everything =
        |framework| move |subject: Subject| matches!(subject, Subject::Everything(whose, _) if whose == framework);
    let rules = Rules::default();
    let of = |path: &str| Subject::of(path, &rules);
    for path in [
        "Gemfile",
        "Gemfile.lock",
        "config/application.rb",
        "config/initializers/money.rb",
        "config/routes.rb",
        "config/locales/en.yml",
        "config/environments/test.rb",
        "packs/shop/config/routes.rb",
        "db/schema.rb",
        "db/structure.sql",
        "db/audit_schema.rb",
        "db/migrate/1_x.rb",
        "app/models/application_record.rb",
        "billing.gemspec",
        ".ruby-version",
    ] {
        assert!(everything(None)(of(path)), "{path}: {:?}", of(path));
    }
    for (path, framework) in [
        ("spec/rails_helper.rb", Framework::Rspec),
        ("packs/shop/spec/spec_helper.rb", Framework::Rspec),
        (".rspec", Framework::Rspec),
        ("test/test_helper.rb", Framework::Minitest),
    ] {
        assert!(everything(Some(framework))(of(path)), "{path}: {:?}", of(path));
    }
    for path in [
        "README.md",
        "docs/x.rb",
        ".github/workflows/ci.yml",
        ".rubocop.yml",
        "config/environments/production.rb",
        "config/puma.rb",
    ] {
        assert!(matches!(of(path), Subject::Nothing(_)), "{path}: {:?}", of(path));
    }
    for (path, subject) in [
        ("spec/models/widget_spec.rb", Subject::Test(Framework::Rspec)),
        ("packs/shop/test/a_test.rb", Subject::Test(Framework::Minitest)),
        ("spec/factories/widgets.rb", Subject::Factories),
        ("test/fixtures/widgets.yml", Subject::Fixtures),
        ("spec/support/login.rb", Subject::Support(Framework::Rspec)),
        ("test/support/login.rb", Subject::Support(Framework::Minitest)),
        ("app/models/widget.rb", Subject::Code),
        ("lib/tax.rb", Subject::Code),
        ("db/seeds.rb", Subject::Other),
        ("package.json", Subject::Other),
    ] {
        assert_eq!(of(path), subject, "{path}");
    }
}

#[test]
fn a_text_names_constants_factories_and_more() {
    let text = r#"
# Commented: Nothing.call
RSpec.describe Ops::Thing, type: :model do
  it_behaves_like "sluggable"
  let(:widget) { create(:widget, maker: build :maker) }
  it { get edit_part_path(1); post "/widgets/1"; expect(VATRate::STANDARD).to be_priced_like(1) }
  it { widgets(:one) }
end
class PriceListTest < ActiveSupport::TestCase
"#;
    let mentions = Mentions::of(text);
    assert_eq!(mentions.names("ops::thing"), Some("Ops::Thing"));
    assert_eq!(mentions.names("vatrate"), Some("VATRate::STANDARD"));
    assert_eq!(mentions.names("vat"), None);
    assert_eq!(mentions.names("nothing"), None);
    let list = |set: &std::collections::BTreeSet<String>| set.iter().cloned().collect::<Vec<_>>().join(" ");
    assert_eq!(list(&mentions.described), "ops::thing pricelist");
    assert_eq!(list(&mentions.factories), "maker widget");
    assert!(mentions.fixtures.contains("widgets"));
    assert_eq!(list(&mentions.shared), "sluggable");
    assert_eq!(list(&mentions.routes), "/widgets/1 edit_part");
    assert!(mentions.words.contains("be_priced_like"));
}

#[test]
fn a_file_of_support_offers_names_or_more() {
    let offers = Offers::of("FactoryBot.define do\n  factory :widget, aliases: [:cog, :gear] do\n  end\nend\n");
    assert_eq!(
        offers.factories.into_iter().collect::<Vec<_>>(),
        ["cog", "gear", "widget"]
    );
    assert!(!offers.more);
    let offers = Offers::of("RSpec.shared_examples 'sluggable' do\nend\nRSpec::Matchers.define :be_slug do\nend\n");
    assert!(offers.shared.contains("sluggable") && offers.matchers.contains("be_slug") && !offers.more);
    assert!(Offers::of("module JsonHelper\n  def json = 1\nend\n").more);
    assert!(Offers::of("RSpec.configure { |config| config.x = 1 }\n").more);
}

fn source(path: &str, text: &str) -> Source {
    Source {
        path: path.to_owned(),
        mentions: Mentions::of(text),
    }
}

fn tests() -> Vec<Source> {
    let mut tests = vec![
        source("spec/models/widget_spec.rb", "RSpec.describe Widget do\nend\n"),
        source(
            "spec/requests/widgets_spec.rb",
            "RSpec.describe 'Widgets' do\n it { get '/widgets' }\nend\n",
        ),
        source(
            "spec/services/price_list_spec.rb",
            "RSpec.describe PriceList do\n create(:widget)\nend\n",
        ),
        source(
            "spec/jobs/pay_job_spec.rb",
            "RSpec.describe PayJob do\n Widget.new\nend\n",
        ),
        source(
            "spec/lib/far_spec.rb",
            "RSpec.describe 'far' do\n it_behaves_like 'sluggable'\nend\n",
        ),
        source(
            "test/models/widget_test.rb",
            "class WidgetTest < ActiveSupport::TestCase\nend\n",
        ),
    ];
    tests.sort_by(|one, other| one.path.cmp(&other.path));
    tests
}

fn code() -> Vec<Source> {
    vec![
        source("app/jobs/pay_job.rb", "class PayJob\n VATRate.standard\nend\n"),
        source(
            "app/models/concerns/sluggable.rb",
            "module Sluggable\n include Named\nend\n",
        ),
        source("app/models/widget.rb", "class Widget\n include Sluggable\nend\n"),
    ]
}

fn ask(changed: &[&str], known: &[Known]) -> Answer {
    let changed: Vec<Changed> = changed
        .iter()
        .map(|path| Changed {
            path: (*path).to_owned(),
            ..Changed::default()
        })
        .collect();
    let records = Records {
        known: known.to_vec(),
        whole: BTreeSet::new(),
    };
    answer(&changed, &tests(), &code(), &records, &Rules::default())
}

fn rows(answer: &Answer, framework: Framework) -> Vec<(&str, Confidence)> {
    let runs = answer.runs.iter().filter(|runs| runs.framework == framework);
    runs.flat_map(|runs| &runs.tests)
        .map(|row| (row.path.as_str(), row.confidence))
        .collect()
}

#[test]
fn each_test_that_is_concerned_says_how_sure_that_is() {
    use Confidence::{High, Low, Medium};
    for (changed, rspec, minitest) in [
        (
            "app/models/widget.rb",
            &[
                ("spec/models/widget_spec.rb", High),
                ("spec/jobs/pay_job_spec.rb", Medium),
                ("spec/services/price_list_spec.rb", Medium),
            ][..],
            &[("test/models/widget_test.rb", High)][..],
        ),
        (
            "app/controllers/widgets_controller.rb",
            &[("spec/requests/widgets_spec.rb", Medium)],
            &[],
        ),
        ("app/services/vat_rate.rb", &[("spec/jobs/pay_job_spec.rb", Low)], &[]),
        (
            "app/models/concerns/sluggable.rb",
            &[
                ("spec/models/widget_spec.rb", Medium),
                ("spec/jobs/pay_job_spec.rb", Low),
                ("spec/services/price_list_spec.rb", Low),
            ],
            &[("test/models/widget_test.rb", Medium)],
        ),
        // Through another concern.
        (
            "app/models/concerns/named.rb",
            &[
                ("spec/jobs/pay_job_spec.rb", Low),
                ("spec/models/widget_spec.rb", Low),
                ("spec/services/price_list_spec.rb", Low),
            ],
            &[("test/models/widget_test.rb", Low)],
        ),
        (
            "test/models/widget_test.rb",
            &[],
            &[("test/models/widget_test.rb", High)],
        ),
    ] {
        let answer = ask(&[changed], &[]);
        assert_eq!(rows(&answer, Framework::Rspec), rspec, "{changed}");
        assert_eq!(rows(&answer, Framework::Minitest), minitest, "{changed}");
        assert!(answer.unmatched.is_empty(), "{changed}: {answer:?}");
    }
}

fn known(test_changed: bool, file_changed: bool) -> Known {
    Known {
        test: "spec/lib/far_spec.rb".to_owned(),
        file: "app/services/vat_rate.rb".to_owned(),
        time: "2026-01-02T03:04:05.000Z".to_owned(),
        test_changed,
        file_changed,
    }
}

#[test]
fn what_a_run_was_seen_to_execute_counts_most_and_says_when_it_is_old() {
    for (known, confidence, word) in [
        (known(false, false), Confidence::High, "05.000Z"),
        (known(false, true), Confidence::High, "the file has changed since"),
        (known(true, false), Confidence::Medium, "the test has changed since"),
        (known(true, true), Confidence::Medium, "the test has changed since"),
    ] {
        let answer = ask(&["app/services/vat_rate.rb"], &[known]);
        let first: &Row = &answer.runs[0].tests[0];
        assert_eq!(
            (first.path.as_str(), first.confidence),
            ("spec/lib/far_spec.rb", confidence)
        );
        assert!(first.reasons[0].ends_with(word), "{:?}", first.reasons);
    }
    let gone = Known {
        test: "spec/lib/gone_spec.rb".to_owned(),
        ..known(false, false)
    };
    assert_eq!(
        rows(&ask(&["app/services/vat_rate.rb"], &[gone]), Framework::Rspec).len(),
        1
    );
}

#[test]
fn no_file_is_left_out_in_silence() {
    let changed = [
        "app/services/lonely.rb",
        "package.json",
        "README.md",
        "config/routes.rb",
        "spec/rails_helper.rb",
    ];
    let answer = ask(&changed, &[]);
    let unmatched: Vec<(&str, &[String])> = answer.unmatched.iter().map(|file| (&*file.path, &*file.run)).collect();
    let directories = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(
        unmatched[0],
        ("app/services/lonely.rb", &*directories(&["spec/services", "test"]))
    );
    assert_eq!(unmatched[1], ("package.json", &*directories(&["spec", "test"])));
    assert_eq!(answer.nothing[0].path, "README.md");
    let because = |at: usize| {
        answer.runs[at]
            .all_because
            .iter()
            .map(|because| &*because.path)
            .collect::<Vec<_>>()
    };
    assert_eq!(because(0), ["config/routes.rb", "spec/rails_helper.rb"]);
    assert_eq!(because(1), ["config/routes.rb"]);
}

/// Each row: the tests of which it is known what they run, and what is told to be run besides.
#[test]
fn what_was_seen_of_one_test_says_nothing_of_the_others() {
    let tests = ["spec/lib/a_spec.rb", "spec/lib/b_spec.rb", "test/lib/c_test.rb"];
    let sources = tests.map(|path| source(path, "")).to_vec();
    let changed = Changed {
        path: "app/helpers/money_helper.rb".to_owned(),
        ..Changed::default()
    };
    for (whole, run) in [
        (&tests[..1], &["spec", "test"][..]),
        (&tests[..2], &["test"]),
        (&tests[..], &[]),
    ] {
        let records = Records {
            known: vec![Known {
                test: tests[0].to_owned(),
                file: changed.path.clone(),
                ..known(false, false)
            }],
            whole: whole.iter().map(|test| (*test).to_owned()).collect(),
        };
        let answer = answer(
            std::slice::from_ref(&changed),
            &sources,
            &[],
            &records,
            &Rules::default(),
        );
        assert_eq!(rows(&answer, Framework::Rspec), [(tests[0], Confidence::High)]);
        let told: Vec<&String> = answer.unmatched.iter().flat_map(|file| &file.run).collect();
        assert_eq!(told, run, "{whole:?}");
    }
}

#[test]
fn each_framework_has_something_to_run_instead() {
    let tests = [
        "packs/shop/spec/jobs/a_spec.rb",
        "spec/lib/b_spec.rb",
        "packs/shop/test/c_test.rb",
    ];
    let tests = tests.map(|path| source(path, "")).to_vec();
    for (path, run) in [
        ("lib/csv_line.rb", &["spec/lib", "packs/shop/test"][..]),
        (
            "packs/shop/app/jobs/lonely_job.rb",
            &["packs/shop/spec/jobs", "packs/shop/test"],
        ),
        (
            "packs/shop/app/models/lonely.rb",
            &["packs/shop/spec", "packs/shop/test"],
        ),
    ] {
        let changed = Changed {
            path: path.to_owned(),
            ..Changed::default()
        };
        let answer = answer(&[changed], &tests, &[], &Records::default(), &Rules::default());
        assert_eq!(answer.unmatched[0].run, run, "{path}");
    }
}

#[test]
fn factories_and_support_concern_who_uses_them() {
    let asked = |path: &str, text: &str| {
        let changed = Changed {
            path: path.to_owned(),
            gone: false,
            offers: Offers::of(text),
        };
        answer(&[changed], &tests(), &code(), &Records::default(), &Rules::default())
    };
    let factory = asked("spec/factories/widgets.rb", "factory :widget do\nend\n");
    assert_eq!(
        rows(&factory, Framework::Rspec),
        [("spec/services/price_list_spec.rb", Confidence::Medium)]
    );
    let shared = asked("spec/support/sluggable.rb", "shared_examples 'sluggable' do\nend\n");
    assert_eq!(
        rows(&shared, Framework::Rspec),
        [("spec/lib/far_spec.rb", Confidence::Medium)]
    );
    let helper = asked("spec/support/json.rb", "module Json\nend\n");
    assert_eq!(helper.runs[0].all_because.len(), 1);
    assert_eq!(helper.runs.len(), 1, "only RSpec loads it");
    let unused = asked("spec/support/unused.rb", "shared_examples 'nobody' do\nend\n");
    assert_eq!(unused.unmatched.len(), 1);
}

#[test]
fn what_is_more_than_a_call_may_name_is_named_by_directories() {
    let tests = |count: usize, dir: &str| (0..count).map(|n| format!("{dir}/a{n:03}_spec.rb")).collect::<Vec<_>>();
    let rules = Rules::default();
    assert_eq!(grouped(&tests(3, "spec/a"), &rules, 3), (tests(3, "spec/a"), false));
    assert_eq!(
        grouped(&tests(4, "spec/a"), &rules, 3),
        (vec!["spec/a".to_owned()], true)
    );
    let mixed = [tests(4, "spec/a/b"), tests(1, "spec/c")].concat();
    assert_eq!(
        grouped(&mixed, &rules, 3),
        (vec!["spec/a/b".to_owned(), "spec/c/a000_spec.rb".to_owned()], true)
    );
    // Nothing is folded into a directory that may hold what is no test.
    let packs: Vec<String> = (0..5).map(|n| format!("packs/p{n}/spec/x_spec.rb")).collect();
    let (folded, _) = grouped(&packs, &rules, 3);
    assert!(folded.iter().all(|path| path.ends_with("/spec")), "{folded:?}");
}

#[test]
fn what_is_watched_and_gone_is_left_out() {
    let selected = [
        "spec/a_spec.rb",
        "spec/gone_spec.rb",
        "spec/gone_spec.rb[1:2]",
        "spec/a_spec.rb:3",
        "spec/models",
    ];
    let exists = |path: &str| ["spec/a_spec.rb", "spec/models"].contains(&path);
    let (there, gone) = there(&selected.map(str::to_owned), &exists);
    assert_eq!(there, ["spec/a_spec.rb", "spec/a_spec.rb:3", "spec/models"]);
    assert_eq!(gone, ["spec/gone_spec.rb", "spec/gone_spec.rb[1:2]"]);
}
