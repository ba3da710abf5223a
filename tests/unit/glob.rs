//! Which paths a listing holds, as `Dir.glob` has it.

use std::path::Path;

use coatepec::project::glob::Glob;

#[test]
fn a_pattern_matches_what_ruby_would_list() {
    let table = [
        ("*", "a.rb", true),
        ("*", "a/b.rb", false),
        ("*", ".hidden", false),
        (".*", ".hidden", true),
        ("*.rb", "a.rb", true),
        ("*.rb", "a.rbx", false),
        ("*.rb", ".rb", false),
        ("a*b*c", "aXbXXbc", true),
        ("a*b*c", "aXbXXb", false),
        ("?.rb", "ä.rb", true),
        ("?.rb", "a.rb", true),
        ("?.rb", "..rb", false),
        ("[0-9]*_*.rb", "20260101_add.rb", true),
        ("[0-9]*_*.rb", "add_it.rb", false),
        ("[^a-c]x", "dx", true),
        ("[!a-c]x", "bx", false),
        ("[]]x", "]x", true),
        ("[x", "[x", true),
        ("\\*", "*", true),
        ("\\*", "a", false),
        ("**/*.rb", "a.rb", true),
        ("**/*.rb", "a/b/c.rb", true),
        ("**/*.rb", "a/.b/c.rb", false),
        ("**/x/*.rb", "a/x/b/x/c.rb", true),
        ("**/x/*.rb", "a/x/b/c.rb", false),
        ("*/init.rb", "a/init.rb", true),
        ("*/init.rb", "a/b/init.rb", false),
        ("*/", "a", true),
        ("plain.yml", "plain.yml", true),
        ("plain.yml", "plainXyml", false),
        ("**", "a", true),
        ("**", "a/b", false),
        ("*.rb", "", false),
    ];
    for (pattern, path, matches) in table {
        let glob = Glob::new(Path::new("/srv/shop"), pattern);
        assert_eq!(
            glob.matches(&Path::new("/srv/shop").join(path)),
            matches,
            "{pattern} {path}"
        );
    }
}

#[test]
fn what_is_elsewhere_is_not_listed() {
    let glob = Glob::new(Path::new("/srv/shop/a*b"), "*.rb");
    assert!(glob.matches(Path::new("/srv/shop/a*b/x.rb")));
    assert!(!glob.matches(Path::new("/srv/shop/axb/x.rb")));
    assert!(!glob.matches(Path::new("/srv/shop/x.rb")));
}

#[test]
fn who_asks_for_an_ending_is_told_from_who_takes_what_there_is() {
    let table = [
        ("*.md", "a.md", true),
        ("**/*.md", "b/a.md", true),
        ("notes.md", "notes.md", true),
        ("*.md", "a.mdx", false),
        ("*", "a.md", false),
        ("*.*", "a.md", false),
        ("*.m?", "a.md", false),
        ("README", "README", false),
    ];
    for (pattern, path, asks) in table {
        let glob = Glob::new(Path::new("/srv/shop"), pattern);
        assert_eq!(glob.names_ending_of(Path::new(path)), asks, "{pattern} {path}");
    }
}
