//! Sets of lines, and what a diff says of them.

use coatepec::project::Lines;
use coatepec::project::diff::{self, ChangedFile};
use proptest::prelude::*;

fn lines(text: &str) -> Lines {
    Lines::parse(text)
}

#[test]
fn ranges_are_read_put_in_order_and_written() {
    for (read, written, count) in [
        ("", "", 0),
        ("3", "3", 1),
        ("3-7,12", "3-7,12", 6),
        ("12,3-5,6-7,5", "3-7,12", 6),
        ("0,7-3,x,2-", "", 0),
        ("1-4294967295", "1-4294967295", 4_294_967_295),
    ] {
        assert_eq!(lines(read).to_string(), written, "{read}");
        assert_eq!(lines(read).count(), count, "{read}");
    }
}

#[test]
fn lines_that_are_neither_part_nothing() {
    for (of, others, joined) in [
        ("3,5,9", "", "3-9"),
        ("3,5,9", "7", "3-5,9"),
        ("3,5", "4", "3,5"),
        ("", "4", ""),
        ("1-2,4", "9", "1-4"),
    ] {
        assert_eq!(
            lines(of).joined_unless(&lines(others)).to_string(),
            joined,
            "{of} unless {others}"
        );
    }
}

proptest! {
    #[test]
    fn both_has_what_both_have(one in proptest::collection::vec((1..60u32, 0..9u32), 0..9), other in proptest::collection::vec((1..60u32, 0..9u32), 0..9)) {
        let set = |ranges: &[(u32, u32)]| Lines::from_iter(ranges.iter().map(|(first, more)| (*first, first + more)));
        let has = |ranges: &[(u32, u32)], line: u32| ranges.iter().any(|(first, more)| (*first..=first + more).contains(&line));
        let both: Lines = (1..80).filter(|line| has(&one, *line) && has(&other, *line)).map(|line| (line, line)).collect();
        prop_assert_eq!(set(&one).and(&set(&other)), both);
    }
}

const DIFF: &str = r#"diff --git a/app/a.rb b/app/a.rb
index 111..222 100644
--- a/app/a.rb
+++ b/app/a.rb
@@ -3 +3,2 @@ class A
-old
+new
++++ b/app/not_a_file.rb
@@ -9,2 +10,0 @@
---- a/neither
-gone
@@ -20,0 +20 @@ def x
+one
\ No newline at end of file
diff --git a/app/gone.rb b/app/gone.rb
deleted file mode 100644
--- a/app/gone.rb
+++ /dev/null
@@ -1,2 +0,0 @@
-class Gone
-end
diff --git a/app/shorter.rb b/app/shorter.rb
--- a/app/shorter.rb
+++ b/app/shorter.rb
@@ -4 +3,0 @@
-x
diff --git a/with space.rb b/with space.rb
new file mode 100644
--- /dev/null
+++ b/with space.rb	
@@ -0,0 +1,3 @@
+1
+2
+3
diff --git "a/tab\t\"q\" \303\274.rb" "b/tab\t\"q\" \303\274.rb"
--- "a/tab\t\"q\" \303\274.rb"
+++ "b/tab\t\"q\" \303\274.rb"
@@ -1 +1 @@
-1
+2
diff --git a/logo.png b/logo.png
Binary files a/logo.png and b/logo.png differ
"#;

#[test]
fn a_diff_tells_the_new_lines_of_each_file() {
    let told: Vec<(String, String)> = diff::lines(DIFF)
        .into_iter()
        .map(|file| (file.path, file.lines.to_string()))
        .collect();
    let expected = [
        ("app/a.rb", "3-4,20"),
        ("with space.rb", "1-3"),
        ("tab\t\"q\" ü.rb", "1"),
    ];
    assert_eq!(told, expected.map(|(path, lines)| (path.to_owned(), lines.to_owned())));
}

#[test]
fn a_list_tells_which_files_are_gone() {
    let files = diff::files("M\0app/a.rb\0D\0app/b c.rb\0A\0new\n.rb\0");
    let file = |path: &str, deleted| ChangedFile {
        path: path.to_owned(),
        deleted,
    };
    assert_eq!(
        files,
        [
            file("app/a.rb", false),
            file("app/b c.rb", true),
            file("new\n.rb", false)
        ]
    );
    assert_eq!(diff::files(""), []);
}
