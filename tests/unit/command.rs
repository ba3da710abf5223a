//! What a person would type.

use coatepec::project::suffix::readings;
use coatepec::project::{Filter, Selector};
use coatepec::run::command::Asked;

fn selector(path: &str) -> Selector {
    let reading = readings(path).pop().unwrap();
    Selector {
        path: reading.path.to_owned(),
        filter: Filter::parse(reading.suffix).unwrap(),
    }
}

fn asked<R>(paths: &[&str], example: Option<&str>, ask: impl Fn(&Asked<'_>) -> R) -> R {
    let paths: Vec<String> = paths.iter().map(ToString::to_string).collect();
    let selectors: Vec<Selector> = paths.iter().map(|path| selector(path)).collect();
    ask(&Asked {
        paths: &paths,
        selectors: &selectors,
        example,
        seed: None,
        fail_fast: false,
    })
}

#[test]
fn minitest_gets_names_as_one_pattern() {
    let table: &[(&[&str], Option<&str>, &str)] = &[
        (
            &["test/a_test.rb", "test/b_test.rb:3"],
            None,
            "test/a_test.rb test/b_test.rb:3",
        ),
        (
            &["test/a_test.rb#ATest#test_x"],
            None,
            "test/a_test.rb -n '/^(ATest#test_x)$/'",
        ),
        (
            &["test/a_test.rb#test_x"],
            None,
            "test/a_test.rb -n '/^((.*#)?test_x)$/'",
        ),
        (&["test/a_test.rb#ATest"], None, "test/a_test.rb -n '/^(ATest#.*)$/'"),
        (
            &["test/a_test.rb#A#x", "test/a_test.rb#A#y's (1/2)"],
            None,
            r"test/a_test.rb -n '/^(A#x|A#y'\''s \(1\/2\))$/'",
        ),
        (&["test"], Some("is big."), r"test -n '/is[ _]big\./'"),
    ];
    for (paths, example, words) in table {
        let command = asked(paths, *example, |asked| asked.rails_test(true));
        assert_eq!(command, format!("bin/rails test {words}"));
    }
    let without = asked(&["test"], None, |asked| asked.rails_test(false));
    assert_eq!(without, "bundle exec rails test test");
}

#[test]
fn seed_and_the_end_at_the_first_failure_are_the_same_for_both() {
    let more = |asked: &Asked<'_>| {
        let asked = Asked {
            seed: Some(7),
            fail_fast: true,
            ..*asked
        };
        (asked.rspec(), asked.rails_test(true))
    };
    let (rspec, rails) = asked(&["spec/a b_spec.rb"], Some("it's"), more);
    assert_eq!(
        rspec,
        r"bundle exec rspec 'spec/a b_spec.rb' -e 'it'\''s' --seed 7 --fail-fast"
    );
    assert_eq!(
        rails,
        r"bin/rails test 'spec/a b_spec.rb' -n '/it'\''s/' --seed 7 --fail-fast"
    );
}
