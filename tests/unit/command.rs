//! What a person would type.

use coatepec::project::suffix::readings;
use coatepec::project::{Filter, Selector};
use coatepec::run::command::Asked;
use coatepec::worker::protocol::KnownAs;

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
        known_as: &[],
        seed: None,
        fail_fast: false,
    })
}

#[test]
fn minitest_gets_names_as_one_pattern() {
    let table: &[(&[&str], Option<&str>, &str)] = &[
        (
            &["test/a_test.rb:4", "test/b_test.rb:3"],
            None,
            "test/a_test.rb:4 test/b_test.rb:3",
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
        (&["test"], Some("with  two"), "test -n '/with(  |_)two/'"),
        (&["test/a[1]*{b,c}_test.rb"], None, "'test/a[[]1][*]?b,c}_test.rb'"),
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

/// Class and name.
type Known<'a> = (&'a str, &'a str);

/// What was named, `example`, what Minitest told, and the words of the command.
type Row<'a> = (&'a [&'a str], Option<&'a str>, &'a [Known<'a>], &'a str);

/// What Minitest told of the tests that were selected.
fn known(paths: &[&str], example: Option<&str>, known_as: &[Known<'_>]) -> String {
    let known = known_as.iter().map(|(class, name)| KnownAs {
        class: (!class.is_empty()).then(|| (*class).to_owned()),
        name: (*name).to_owned(),
    });
    let known: Vec<KnownAs> = known.collect();
    asked(paths, example, |asked| {
        Asked {
            known_as: &known,
            ..*asked
        }
        .rails_test(true)
    })
}

#[test]
fn a_pattern_covers_all_tests_that_were_selected_in_whatever_way() {
    let b = ("BTest", "test_b");
    let x = ("ATest", "test_x");
    let y = ("ATest", "test_y");
    let table: &[Row<'_>] = &[
        (
            &["test/a_test.rb#ATest#test_x", "test/b_test.rb"],
            None,
            &[x, b],
            "test/a_test.rb test/b_test.rb -n '/^(ATest#test_x|BTest#test_b)$/'",
        ),
        (
            &["test/a_test.rb:3", "test/b_test.rb#BTest"],
            None,
            &[x, y, b],
            "test/a_test.rb test/b_test.rb -n '/^(ATest#(test_x|test_y)|BTest#test_b)$/'",
        ),
        (
            &["test/a_test.rb:1", "test/dir"],
            None,
            &[x, b],
            "test/a_test.rb test/dir -n '/^(ATest#test_x|BTest#test_b)$/'",
        ),
        // What was named says the same, and is shorter.
        (
            &["test/a_test.rb#ATest"],
            None,
            &[x, y],
            "test/a_test.rb -n '/^(ATest#.*)$/'",
        ),
        (
            &["test/a_test.rb#test_x"],
            None,
            &[x],
            "test/a_test.rb -n '/^((.*#)?test_x)$/'",
        ),
        (&["test"], Some("test x"), &[x], "test -n '/test[ _]x/'"),
        // Classes without a name, and those that go by another one.
        (
            &["test/a_test.rb#(anonymous)#test_x"],
            None,
            &[("", "test_x")],
            "test/a_test.rb -n '/^(test_x)$/'",
        ),
        (
            &["test/a_test.rb#Odd#test_x"],
            None,
            &[("Hidden", "test_x")],
            "test/a_test.rb -n '/^(Hidden#test_x)$/'",
        ),
        (
            &["test/a_test.rb#ATest#test_x y"],
            None,
            &[("ATest", "test_x\ny")],
            r"test/a_test.rb -n '/^(ATest#test_x\ny)$/'",
        ),
        (
            &["test"],
            Some("Odd#test"),
            &[("Hidden", "test_x")],
            "test -n '/^(Hidden#test_x)$/'",
        ),
    ];
    for (paths, example, known_as, words) in table {
        assert_eq!(known(paths, *example, known_as), format!("bin/rails test {words}"));
    }
}

#[test]
fn what_no_single_command_does_is_several() {
    let table: &[(&[&str], &str)] = &[
        (
            &["test/a_test.rb#ATest#test_x", "test/b_test.rb"],
            "bin/rails test test/b_test.rb; bin/rails test test/a_test.rb -n '/^(ATest#test_x)$/'",
        ),
        (
            &["test/a_test.rb:3", "test/dir"],
            "bin/rails test test/dir; bin/rails test test/a_test.rb:3",
        ),
        (
            &["test/a_test.rb#ATest#test_x", "test/a_test.rb"],
            "bin/rails test test/a_test.rb",
        ),
    ];
    for (paths, command) in table {
        assert_eq!(known(paths, None, &[]), *command);
    }
}
