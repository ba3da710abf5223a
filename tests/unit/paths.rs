//! What a caller may see of paths: the app's own, relative; of others only what names the code.

use std::path::{Path, PathBuf};

use proptest::prelude::*;

use coatepec::run::paths::{Frame, Paths, selector};

const ROOT: &str = "/srv/shop";
const HOME: &str = "/home/ada";

fn paths() -> Paths {
    Paths::new(Path::new(ROOT), Some(PathBuf::from(HOME)))
}

fn frames(lines: &[&str]) -> Vec<String> {
    lines.iter().map(ToString::to_string).collect()
}

#[test]
fn a_frame_is_of_the_app_of_someone_else_or_noise() {
    let app = |shown: &str| Frame::App(shown.to_owned());
    let foreign = |shown: &str| Frame::Foreign(shown.to_owned());
    let table = [
        (
            "(eval at /srv/shop/app/cart.rb:7):1:in 'x'",
            app("(eval at app/cart.rb:7):1:in 'x'"),
        ),
        (
            "(eval at /home/ada/x/cart.rb:7):1:in 'x'",
            foreign("(eval at cart.rb:7):1:in 'x'"),
        ),
        (
            "./vendor/bundle/ruby/3.3.0/gems/rack-3.1.0/lib/rack.rb:5",
            foreign("rack-3.1.0/lib/rack.rb:5"),
        ),
        (
            "/srv/shop/app/models/cart.rb:7:in 'Cart#add'",
            app("app/models/cart.rb:7:in 'Cart#add'"),
        ),
        (
            "./spec/cart_spec.rb:3:in 'block'",
            app("spec/cart_spec.rb:3:in 'block'"),
        ),
        ("spec/cart_spec.rb:3", app("spec/cart_spec.rb:3")),
        ("/srv/shop/gems/money/lib/money.rb:1", app("gems/money/lib/money.rb:1")),
        ("/srv/shop/vendor/plugins/own.rb:1", app("vendor/plugins/own.rb:1")),
        ("/srv/shopping/app/models/cart.rb:7", foreign("cart.rb:7")),
        (
            "/usr/lib/ruby/gems/3.3.0/gems/rack-3.1.0/lib/rack/lint.rb:50:in 'call'",
            foreign("rack-3.1.0/lib/rack/lint.rb:50:in 'call'"),
        ),
        (
            "/srv/shop/vendor/bundle/ruby/3.3.0/gems/rack-3.1.0/lib/rack.rb:5",
            foreign("rack-3.1.0/lib/rack.rb:5"),
        ),
        ("/srv/shop/node_modules/x/y.rb:5", foreign("y.rb:5")),
        (
            "/home/ada/work/engine/lib/engine.rb:5:in 'a/b'",
            foreign("engine.rb:5:in 'a/b'"),
        ),
        ("/usr/lib/ruby/3.3.0/set.rb:5:in '/'", foreign("set.rb:5:in '/'")),
        (
            "/usr/bin/rspec:25:in 'Kernel#load'",
            foreign("rspec:25:in 'Kernel#load'"),
        ),
        ("(eval):1:in 'x'", foreign("(eval):1:in 'x'")),
        ("coatepec/worker/rspec.rb:40:in 'call'", Frame::Noise),
        ("<internal:kernel>:187:in 'loop'", Frame::Noise),
        ("-e:1:in '<main>'", Frame::Noise),
    ];
    for (frame, shown) in table {
        assert_eq!(paths().frame(frame), shown, "{frame}");
    }
}

#[test]
fn a_backtrace_shows_the_frames_of_the_app_only() {
    let mixed = frames(&[
        "/usr/lib/ruby/gems/3.3.0/gems/rack-3.1.0/lib/rack.rb:5",
        "/srv/shop/app/models/cart.rb:7",
        "coatepec/worker/rspec.rb:40",
        "/usr/lib/ruby/3.3.0/set.rb:5",
        "/srv/shop/spec/cart_spec.rb:3",
    ]);
    assert_eq!(
        paths().backtrace(&mixed, 12),
        ["app/models/cart.rb:7", "spec/cart_spec.rb:3"]
    );
    assert_eq!(paths().backtrace(&mixed, 1), ["app/models/cart.rb:7"]);
}

#[test]
fn a_backtrace_that_never_touches_the_app_leads_to_its_first_frames() {
    let far: Vec<String> = (1..=20)
        .map(|line| format!("/opt/ruby/lib/net/http.rb:{line}"))
        .collect();
    assert_eq!(
        paths().backtrace(&far, 12),
        ["http.rb:1", "http.rb:2", "http.rb:3", "http.rb:4", "http.rb:5"]
    );
    assert_eq!(paths().backtrace(&far, 2), ["http.rb:1", "http.rb:2"]);
    assert!(
        paths()
            .backtrace(&frames(&["<internal:kernel>:187", "coatepec/worker.rb:1"]), 12)
            .is_empty()
    );
    assert!(paths().backtrace(&[], 12).is_empty());
}

#[test]
fn in_a_text_the_root_disappears_and_the_home_becomes_a_tilde() {
    let table = [
        ("cannot load /srv/shop/lib/x.rb", "cannot load lib/x.rb"),
        ("/srv/shop/a and /srv/shop/b", "a and b"),
        ("no key in /home/ada/.ssh", "no key in ~/.ssh"),
        ("/srv/shopping/a", "/srv/shopping/a"),
        ("/mnt/srv/shop/a", "/mnt/srv/shop/a"),
        ("http://localhost/home/ada/x", "http://localhost/home/ada/x"),
        ("nothing to hide", "nothing to hide"),
        ("", ""),
    ];
    for (text, shown) in table {
        assert_eq!(paths().text(text), shown, "{text}");
    }
}

#[test]
fn a_root_in_the_home_is_cut_before_the_home() {
    let paths = Paths::new(Path::new("/home/ada/shop"), Some(PathBuf::from("/home/ada/")));
    assert_eq!(paths.text("/home/ada/shop/a.rb /home/ada/b.rb"), "a.rb ~/b.rb");
}

/// `/` as home, as for some system users, must not turn every path into one below `~`.
#[test]
fn no_home_and_a_home_that_is_the_root_of_all_change_nothing() {
    for home in [None, Some(PathBuf::from("/"))] {
        let paths = Paths::new(Path::new(ROOT), home);
        assert_eq!(paths.text("/usr/lib /srv/shop/a"), "/usr/lib a");
    }
}

#[test]
fn a_final_slash_of_the_root_makes_no_difference() {
    assert_eq!(Paths::new(Path::new("/srv/shop/"), None).text("/srv/shop/a.rb"), "a.rb");
}

#[test]
fn ids_are_shown_as_callers_name_them() {
    let table = [
        ("./spec/a_spec.rb[1:2]", "spec/a_spec.rb[1:2]"),
        ("spec/a_spec.rb[1:2]", "spec/a_spec.rb[1:2]"),
        ("././-x_spec.rb[1]", "./-x_spec.rb[1]"),
        ("", ""),
    ];
    for (id, shown) in table {
        assert_eq!(selector(id), shown);
    }
}

/// As Ruby prints an exception that an exit handler raises in a fork.
#[test]
fn what_was_printed_has_no_frames_of_ours() {
    let printed = "/srv/shop/spec/a_spec.rb:2:in 'block': boom (RuntimeError)\n\
                   \tfrom coatepec/worker/fork.rb:19:in 'Kernel#fork'\n\
                   \tfrom /srv/shop/lib/x.rb:3:in 'x'\n\
                   \tfrom coatepec/worker.rb:22:in 'start'\n\
                   \tfrom -e:1:in '<main>'\n\
                   coatepec/worker/child.rb:90:in 'Kernel#exit': exit (SystemExit)\n\
                   -e:1:in my own words, from coatepec/worker\n";
    let shown = "spec/a_spec.rb:2:in 'block': boom (RuntimeError)\n\tfrom lib/x.rb:3:in 'x'\n\
                 -e:1:in my own words, from coatepec/worker\n";
    assert_eq!(paths().output(printed), shown);
    assert_eq!(paths().output("in /srv/shop/a"), "in a");
}

#[test]
fn a_file_is_named_from_the_root_or_near_it_or_from_home_and_else_only_by_its_name() {
    let table = [
        ("/home/me/work/shop", "/home/me/work/shop/lib/a.rb", "lib/a.rb"),
        ("/home/me/work/shop", "/home/me/work/gems/a.rb", "../gems/a.rb"),
        ("/home/me/work/all/shop", "/home/me/work/gems/a.rb", "../../gems/a.rb"),
        ("/home/me/shop", "/home/me/gems/a.rb", "~/gems/a.rb"),
        ("/home/me/a/b/c/shop", "/home/me/gems/a.rb", "~/gems/a.rb"),
        ("/home/me/shop", "/home/you/gems/a.rb", "a.rb"),
        ("/srv/shop", "/srv/gems/a.rb", "../gems/a.rb"),
        ("/srv/shop", "/opt/gems/a.rb", "a.rb"),
        ("/app", "/gems/a.rb", "a.rb"),
        ("/app", "/application/a.rb", "a.rb"),
    ];
    for (root, path, shown) in table {
        let paths = Paths::new(Path::new(root), Some("/home/me".into()));
        assert_eq!(paths.file(Path::new(path)), shown, "{root} {path}");
    }
}

fn place() -> impl Strategy<Value = String> {
    let dir = "(/srv/shop|/home/ada|/usr/lib/ruby|/opt/x/gems/y-1)";
    let file = "(/[a-z.]{1,5}){1,3}(\\.rb|\\.so|)";
    (dir, file, 1..99u32, "(:in '[a-zA-Z#/]{0,6}')?")
        .prop_map(|(dir, file, line, method)| format!("{dir}{file}:{line}{method}"))
}

proptest! {
    #[test]
    fn no_frame_of_a_file_shows_where_the_machine_keeps_it(frames in proptest::collection::vec(place(), 0..8), limit in 0..12usize) {
        let shown = paths().backtrace(&frames, limit);
        prop_assert!(shown.len() <= limit);
        for frame in shown {
            prop_assert!(!frame.starts_with('/'), "{frame}");
            prop_assert!(!frame.contains(ROOT) && !frame.contains(HOME), "{frame}");
        }
    }

    #[test]
    fn nothing_makes_it_panic(frame in any::<String>(), odd in "(/srv/shop/|\\./|/|\\(|\\.rb:|/gems/|é|:){0,8}") {
        for frame in [frame, odd] {
            let _ = (paths().frame(&frame), paths().text(&frame), selector(&frame));
        }
    }
}
