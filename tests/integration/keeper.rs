//! The keeper on its own, started by something that is not us.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};

use coatepec::process::Pid;
use coatepec::process::keeper::{Exit, Word};
use coatepec::process::procfs::{self, Children};
use nix::sys::signal::Signal;

use crate::process_support::{Mark, coatepec, outside, send, until};

/// A keeper below a shell that holds the other end of its lifeline, as the supervisor does. Its words go to stdout.
fn below_a_shell(mark: &Mark, directory: &std::path::Path, script: &str) -> Child {
    let shell = r#"mkfifo line; exec 4<>line
        "$KEEPER" __jail --lifeline 3 --status 1 -- sh -c "$SCRIPT" 3<line 4>&- &
        wait"#;
    let mut command = outside("sh");
    command.args(["-c", shell]).current_dir(directory).envs(mark.env());
    command.env("KEEPER", coatepec()).env("SCRIPT", script);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap()
}

fn words(of: impl Read) -> Vec<Word> {
    BufReader::new(of)
        .lines()
        .map(|line| serde_json::from_str(&line.unwrap()).unwrap())
        .collect()
}

#[tokio::test]
async fn nothing_outlives_a_supervisor_that_was_killed() {
    let mark = Mark::new();
    let directory = tempfile::tempdir().unwrap();
    let script = r#"trap "" TERM HUP INT
        (setsid sh -c 'trap "" TERM HUP; sleep 86403; sleep 86404' >/dev/null &)
        (sh -c 'kill -STOP $$' >/dev/null &)
        setsid setsid sleep 86405 >/dev/null &
        touch ready; while :; do sleep 1; done"#;
    let mut shell = below_a_shell(&mark, directory.path(), script);
    until("it runs", || directory.path().join("ready").exists()).await;

    shell.kill().unwrap();
    shell.wait().unwrap();

    until("nothing is left", || mark.alive().is_empty()).await;
    let said = words(shell.stdout.take().unwrap());
    assert!(
        matches!(
            &said[..],
            [Word::Started(_), Word::Exited(Exit::Signal(9)), Word::Left(_)]
        ),
        "{said:?}"
    );
}

#[tokio::test]
async fn signals_to_the_whole_group_of_the_supervisor_leave_the_keeper_to_its_work() {
    let mark = Mark::new();
    let directory = tempfile::tempdir().unwrap();
    let mut shell = below_a_shell(
        &mark,
        directory.path(),
        "(setsid sleep 86403 &); touch ready; sleep 86404",
    );
    until("it runs", || directory.path().join("ready").exists()).await;
    for pid in mark
        .alive()
        .into_iter()
        .filter(|pid| pid.as_raw() == shell.id().cast_signed())
    {
        send(pid, Signal::SIGTERM);
    }
    shell.wait().unwrap();
    until("nothing is left", || mark.alive().is_empty()).await;
}

#[tokio::test]
async fn a_lifeline_that_is_cut_before_the_start_ends_it_at_once() {
    let mark = Mark::new();
    let mut command = outside(coatepec());
    command
        .args(["__jail", "--lifeline", "0", "--status", "1", "--", "sleep", "86403"])
        .envs(mark.env());
    // The other end of this stdin is closed as soon as it is dropped.
    let mut keeper = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    drop(keeper.stdin.take());
    let said = words(keeper.stdout.take().unwrap());
    assert!(
        matches!(
            &said[..],
            [Word::Started(_), Word::Exited(Exit::Signal(9)), Word::Left(_)]
        ),
        "{said:?}"
    );
    assert!(keeper.wait().unwrap().success());
    assert_eq!(mark.alive(), []);
}

#[test]
fn the_words_come_in_order_and_say_what_was_left() {
    let mark = Mark::new();
    let mut keeper = keeper(
        &mark,
        &[
            "--lifeline",
            "0",
            "--status",
            "2",
            "--",
            "sh",
            "-c",
            "setsid sleep 86403 & until grep -qx sleep /proc/$!/comm; do :; done; exit 5",
        ],
    );
    let mut child = keeper.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let lines: Vec<String> = BufReader::new(child.stderr.take().unwrap())
        .lines()
        .map(Result::unwrap)
        .collect();
    assert!(lines[0].starts_with(r#"{"started":"#), "{lines:?}");
    assert_eq!(lines[1], r#"{"exited":{"code":5}}"#);
    assert!(lines[2].starts_with(r#"{"left":{"named":[{"pid":"#), "{lines:?}");
    assert!(
        lines[2].ends_with(r#""command":"sleep 86403"}],"total":1}}"#),
        "{lines:?}"
    );
    assert!(child.wait().unwrap().success());
}

/// Who forks as fast as it dies leaves more dead than it can reap.
#[tokio::test]
async fn more_dead_than_it_can_reap_are_left_to_the_kernel_and_the_end_is_noticed_even_so() {
    let mark = Mark::new();
    let directory = tempfile::tempdir().unwrap();
    let script = r#"until test -e stopped; do sleep 0.01; done
        for link in $(seq 600); do (true &) done
        touch dead; until test -e end; do sleep 0.01; done; exit 5"#;
    let mut shell = below_a_shell(&mark, directory.path(), script);
    let mut said = BufReader::new(shell.stdout.take().unwrap()).lines();
    let started: Word = serde_json::from_str(&said.next().unwrap().unwrap()).unwrap();
    let Word::Started(command) = started else {
        panic!("{started:?}")
    };
    let keeper = procfs::stat(Pid::from_raw(command)).unwrap().parent;
    let children = || Children::look().of(keeper).len();
    send(keeper, Signal::SIGSTOP);
    std::fs::write(directory.path().join("stopped"), "").unwrap();
    until("all are dead", || {
        directory.path().join("dead").exists() && children() > 600
    })
    .await;
    send(keeper, Signal::SIGCONT);
    until("none of them is left", || children() == 1).await;
    std::fs::write(directory.path().join("end"), "").unwrap();
    let said: Vec<Word> = said.map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
    assert!(
        matches!(&said[..], [Word::Exited(Exit::Unknown), Word::Left(left)] if left.total == 0),
        "{said:?}"
    );
    shell.wait().unwrap();
}

#[test]
fn wrong_orders_are_refused_before_anything_is_started() {
    let mark = Mark::new();
    let cases: [(&[&str], &str); 8] = [
        (&[], "a command is missing"),
        (&["--"], "--lifeline is missing"),
        (&["--lifeline", "0", "--status", "1", "--"], "a command is missing"),
        (&["--lifeline", "0", "--", "true"], "--status is missing"),
        (
            &["--lifeline", "999", "--status", "1", "--", "true"],
            "`999` is no open descriptor",
        ),
        (&["--fd", "0", "--", "true"], "`0` is not FROM:TO"),
        (&["--policy", r#"{"limit":1}"#, "--", "true"], "unknown field"),
        (&["--what", "1", "--", "true"], "unknown flag `--what`"),
    ];
    for (arguments, message) in cases {
        let output = keeper(&mark, arguments).stdin(Stdio::null()).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(message), "{arguments:?}: {said}");
    }
}

#[test]
fn what_was_left_open_for_the_keeper_does_not_reach_the_command() {
    let mark = Mark::new();
    let mut shell = outside("sh");
    shell.args([
        "-c",
        r#"exec 7</dev/zero 8<&7; exec "$KEEPER" __jail --lifeline 0 --status 2 -- sh -c 'ls /proc/$$/fd'"#,
    ]);
    shell
        .envs(mark.env())
        .env("KEEPER", coatepec())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = shell.spawn().unwrap();
    let open = std::io::read_to_string(child.stdout.take().unwrap()).unwrap();
    assert_eq!(open.split_whitespace().collect::<Vec<_>>(), ["0", "1", "2"]);
    child.wait().unwrap();
}

fn keeper(mark: &Mark, arguments: &[&str]) -> Command {
    let mut command = outside(coatepec());
    command.arg("__jail").args(arguments).envs(mark.env());
    command
}

#[test]
fn the_keeper_has_one_thread() {
    let mark = Mark::new();
    let mut child = keeper(&mark, &["--lifeline", "0", "--status", "1", "--", "sleep", "86403"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    BufReader::new(child.stdout.as_mut().unwrap())
        .read_line(&mut String::new())
        .unwrap();
    let keeper = coatepec::process::procfs::stat(Pid::from_raw(child.id().cast_signed())).unwrap();
    assert_eq!(
        (keeper.threads, keeper.name.as_str(), keeper.session),
        (1, "coatepec-keeper", keeper.id.pid)
    );
    drop(child.stdin.take());
    child.wait().unwrap();
}
