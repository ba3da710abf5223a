//! What programs say of files that they could not have.

use coatepec::run::said::denied;

#[test]
fn the_file_is_found_however_a_program_words_it() {
    let table: &[(&str, &[&str])] = &[
        ("cat: /home/ann/.ssh/id: Permission denied", &["/home/ann/.ssh/id"]),
        ("sh: 1: cannot create .git/made: Permission denied", &[".git/made"]),
        (
            "bash: line 1: /home/ann/.profile: Permission denied",
            &["/home/ann/.profile"],
        ),
        ("touch: cannot touch '/home/ann/x y': Permission denied", &[]),
        ("touch: cannot touch '/home/ann/x': Permission denied", &["/home/ann/x"]),
        (
            "mkdir: cannot create directory ‘/home/ann/x’: Permission denied",
            &["/home/ann/x"],
        ),
        (
            "Error: EACCES: permission denied, open '/home/ann/.npmrc'",
            &["/home/ann/.npmrc"],
        ),
        (
            "PermissionError: [Errno 13] Permission denied: '/home/ann/.netrc'",
            &["/home/ann/.netrc"],
        ),
        (
            "open /home/ann/.kube/config: permission denied",
            &["/home/ann/.kube/config"],
        ),
        (
            "-e:1:in `read': Permission denied @ rb_sysopen - /home/ann/.netrc (Errno::EACCES)",
            &["/home/ann/.netrc"],
        ),
        (
            "fatal: Unable to create '/app/.git/index.lock': Permission denied",
            &["/app/.git/index.lock"],
        ),
        ("You have no right to do this: permission denied", &[]),
        ("/home/ann/.ssh/id is read", &[]),
        ("", &[]),
    ];
    for (line, files) in table {
        assert_eq!(denied(&format!("before\n{line}\nafter /x")), *files, "{line}");
    }
}

#[test]
fn a_file_that_is_named_twice_is_found_once() {
    let text = "cat: /x: Permission denied\n".repeat(1000);
    assert_eq!(denied(&text), ["/x"]);
}
