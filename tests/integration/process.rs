//! Processes below a keeper, as the supervisor sees them.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;

use coatepec::process::Pid;
use coatepec::process::fds::sealed_memfd;
use coatepec::process::keeper::Exit;
use coatepec::process::pidfd::PidFd;
use coatepec::process::spawn::{Kept, spawn_by};
use coatepec::process::tree::{self, Leaked, NAMED, Target};
use nix::sys::signal::Signal;

use crate::process_support::{GENEROUS, Mark, coatepec, is_gone, output, send, shell, start, until};

const NOW: Duration = Duration::ZERO;

/// Starts a process in a session of its own, and waits until it bears its final name.
const LEFT_BEHIND: &str = "setsid sleep 86403 & until grep -qx sleep /proc/$!/comm; do :; done";

#[tokio::test]
async fn the_exit_code_is_reported() {
    let mark = Mark::new();
    let kept = start(shell(&mark, "exit 7", vec![]));
    assert_eq!(kept.exited().await, Exit::Code(7));
}

#[tokio::test]
async fn the_signal_is_reported_also_one_without_a_name() {
    for (signal, script) in [(9, "kill -9 $$"), (11, "kill -11 $$"), (40, "kill -40 $$")] {
        let mark = Mark::new();
        let kept = start(shell(&mark, script, vec![]));
        assert_eq!(kept.exited().await, Exit::Signal(signal));
    }
}

#[tokio::test]
async fn a_command_that_does_not_exist_is_reported() {
    let mark = Mark::new();
    let mut launch = shell(&mark, "", vec![]);
    launch.argv = vec!["no-such-program".into(), "--flag".into()];
    let refused = start(launch).started().await.unwrap_err();
    assert_eq!(refused.errno, nix::errno::Errno::ENOENT as i32);
    assert_eq!(
        refused.message,
        "failed to run `no-such-program`: No such file or directory"
    );
}

#[tokio::test]
async fn a_directory_that_does_not_exist_is_reported() {
    let mut launch = shell(&Mark::new(), "", vec![]);
    launch.cwd = "/no/such/place".into();
    let refused = spawn_by(coatepec(), launch).unwrap_err();
    assert!(refused.message.contains("`/no/such/place`"), "{refused}");
}

#[tokio::test]
async fn descriptors_that_can_not_be_placed_are_reported() {
    let (_read, write) = std::io::pipe().unwrap();
    let refused = start(shell(&Mark::new(), "", vec![(write.into(), i32::MAX - 1)]))
        .started()
        .await
        .unwrap_err();
    assert!(
        refused.message.starts_with("failed to pass file descriptors: "),
        "{refused}"
    );
}

#[tokio::test]
async fn the_environment_is_exactly_what_was_asked_for() {
    let mut launch = shell(&Mark::new(), "", vec![]);
    launch.argv = vec!["/usr/bin/env".into()];
    launch.env = vec![("ONLY".into(), "this and that".into())];
    assert_eq!(output(launch).await, "ONLY=this and that\n");
}

#[tokio::test]
async fn the_command_starts_in_its_directory_with_an_empty_stdin() {
    let mut launch = shell(&Mark::new(), "pwd; cat; readlink /proc/self/fd/0", vec![]);
    launch.cwd = "/proc".into();
    assert_eq!(output(launch).await, "/proc\n/dev/null\n");
}

#[tokio::test]
async fn the_command_has_default_signals_no_core_dumps_and_no_way_to_new_privileges() {
    let wanted = "grep -E '^(SigBlk|SigIgn|NoNewPrivs)' /proc/self/status; grep 'core file' /proc/self/limits";
    let text = output(shell(&Mark::new(), wanted, vec![])).await;
    let words: Vec<&str> = text.split_whitespace().collect();
    // The C library keeps signals 32 and 33 to itself: their state is whatever we were started with.
    let signals = |mask: &str| u64::from_str_radix(mask, 16).unwrap() & !(3 << 31);
    assert_eq!(
        (words[0], signals(words[1]), words[2], signals(words[3])),
        ("SigBlk:", 0, "SigIgn:", 0)
    );
    assert_eq!(words[4..6], ["NoNewPrivs:", "1"]);
    assert_eq!(words[6..], ["Max", "core", "file", "size", "1", "1", "bytes"]);
}

#[tokio::test]
async fn limits_are_set_and_never_raised() {
    let mut launch = shell(&Mark::new(), "ulimit -n; ulimit -Hf", vec![]);
    launch.policy.limits.open_files = Some(64);
    launch.policy.limits.file_size = Some(4096);
    assert_eq!(output(launch).await, "64\n8\n");

    let mut launch = shell(&Mark::new(), "ulimit -Hn", vec![]);
    launch.policy.limits.open_files = Some(u64::MAX);
    let (_, hard) = nix::sys::resource::getrlimit(nix::sys::resource::Resource::RLIMIT_NOFILE).unwrap();
    assert_eq!(output(launch).await.trim(), hard.to_string());
}

#[tokio::test]
async fn descriptors_land_at_their_numbers_also_when_these_are_taken() {
    let files: Vec<OwnedFd> = (b'a'..=b'f')
        .map(|text| sealed_memfd("test", &[text]).unwrap())
        .collect();
    let numbers: Vec<i32> = files.iter().map(AsRawFd::as_raw_fd).collect();
    // Each goes to the number of its neighbour, the last one to that of the first.
    let mut targets = numbers.clone();
    targets.rotate_left(1);
    let fds: Vec<(OwnedFd, i32)> = files.into_iter().zip(targets.iter().copied()).collect();
    let script: String = targets.iter().map(|to| format!("cat /dev/fd/{to}; ")).collect();
    assert_eq!(output(shell(&Mark::new(), &script, fds)).await, "abcdef");
}

#[tokio::test]
async fn descriptors_may_take_any_number_and_nothing_else_is_inherited() {
    // Low numbers are those that the keeper and its pipes have for themselves.
    let numbers: Vec<i32> = (3..20).chain([100, 777]).collect();
    let file = |to: &i32| (sealed_memfd("test", format!("<{to}>").as_bytes()).unwrap(), *to);
    let fds = numbers.iter().map(file).collect();
    let cats: String = numbers.iter().map(|to| format!("; cat /dev/fd/{to}")).collect();
    let text = output(shell(&Mark::new(), &format!("ls /proc/$$/fd{cats}"), fds)).await;
    let (listed, contents) = text.split_at(text.find('<').unwrap());
    let mut listed: Vec<i32> = listed.lines().map(|line| line.parse().unwrap()).collect();
    listed.sort_unstable();
    assert_eq!(listed, (0..20).chain([100, 777]).collect::<Vec<_>>());
    assert_eq!(
        contents,
        numbers.iter().map(|number| format!("<{number}>")).collect::<String>()
    );
}

#[tokio::test]
async fn the_end_of_the_command_is_the_end_of_its_output_although_the_keeper_lives() {
    let (read, write) = std::io::pipe().unwrap();
    let script = "echo one; exec >&-; sleep 86400";
    let mark = Mark::new();
    let kept = start(shell(&mark, script, vec![(write.into(), 1)]));
    let lines: Vec<String> = BufReader::new(read).lines().map(Result::unwrap).collect();
    assert_eq!(lines, ["one"]);
    assert!(!is_gone(kept.keeper()));
}

#[tokio::test]
async fn a_thousand_launches_leave_no_descriptor_and_no_zombie() {
    let open = || fs::read_dir("/proc/self/fd").unwrap().count();
    let before = open();
    for _ in 0..1000 {
        let mut launch = shell(&Mark::new(), "", vec![]);
        launch.argv = vec!["/bin/true".into()];
        let kept = start(launch);
        assert_eq!(kept.exited().await, Exit::Code(0));
        kept.cleared().await;
        assert!(coatepec::process::procfs::stat(kept.keeper()).is_none_or(|found| found.state != 'Z'));
    }
    // Tests may run beside this one in the same process.
    assert!(open() < before + 200, "{} before, {} after", before, open());
}

fn named(leaked: &Leaked, command: &str) -> bool {
    leaked.named.iter().any(|left| left.command == command)
}

fn first_line(of: std::io::PipeReader) -> String {
    BufReader::new(of).lines().next().unwrap().unwrap()
}

/// A script below which a run takes place as below the real worker: there is a helper from earlier, orphaned; and
/// a child in its own session, which says its pid, waits for `go`, and is not reaped.
struct Worker {
    mark: Mark,
    kept: Kept,
    child: Pid,
    go: Option<std::io::PipeWriter>,
    words: std::io::Lines<BufReader<std::io::PipeReader>>,
}

impl Worker {
    async fn with_child(script: &str) -> Worker {
        let (read, write) = std::io::pipe().unwrap();
        let (wait, go) = std::io::pipe().unwrap();
        let script = format!(
            r#"(sleep 86401 & echo helper $! >&4)
               CHILD='echo child $$ >&4; read go <&3; {script}' setsid sh -c 'eval "$CHILD"' &
               exec sleep 86402"#
        );
        let mark = Mark::new();
        let kept = start(shell(&mark, &script, vec![(wait.into(), 3), (write.into(), 4)]));
        let mut words = BufReader::new(read).lines();
        let mut child = None;
        for _ in 0..2 {
            let line = words.next().unwrap().unwrap();
            child = child.or(line
                .strip_prefix("child ")
                .map(|pid| Pid::from_raw(pid.parse().unwrap())));
        }
        let go = Some(go);
        let worker = Worker {
            mark,
            kept,
            child: child.unwrap(),
            go,
            words,
        };
        until("only the helper is there", || worker.others().len() == 2).await;
        worker
    }

    /// What is to survive: the command and its helper.
    fn others(&self) -> Vec<Pid> {
        self.mark.alive().into_iter().filter(|pid| *pid != self.child).collect()
    }

    fn target(&self) -> Target {
        Target::run(self.kept.keeper(), self.child).unwrap()
    }

    fn go(&mut self) {
        writeln!(self.go.take().unwrap(), "go").unwrap();
    }

    fn hears(&mut self, word: &str) {
        assert_eq!(self.words.next().unwrap().unwrap(), word);
    }
}

#[tokio::test]
async fn ending_a_run_ends_all_it_started_and_nothing_else() {
    let mut worker = Worker::with_child(
        r#"trap "" TERM
           sleep 86403 &
           (setsid sh -c "trap : TERM; echo deaf >&4; while :; do sleep 86404; done" &)
           setsid sh -c "setsid sh -c \"sleep 86405 & setsid sleep 86406\" & exit" &
           (sh -c "echo stopped >&4; kill -STOP \$\$" &)
           sleep 86407"#,
    )
    .await;
    let others = worker.others();
    let target = worker.target();
    assert_eq!(target.members().len(), 1);
    worker.go();
    let mut said = [
        worker.words.next().unwrap().unwrap(),
        worker.words.next().unwrap().unwrap(),
    ];
    said.sort();
    assert_eq!(said, ["deaf", "stopped"]);
    let sleeps = [
        "sleep 86403",
        "sleep 86404",
        "sleep 86405",
        "sleep 86406",
        "sleep 86407",
    ];
    let runs = |sleep: &&str| target.remains().iter().any(|left| left.command == *sleep);
    until("everything runs", || sleeps.iter().all(runs)).await;
    until("one has stopped", || {
        target.members().iter().any(|found| found.stopped())
    })
    .await;

    let ended = tree::end(&target, NOW).await;

    assert_eq!(worker.others(), others);
    assert!(is_gone(worker.child));
    assert!(ended.forced);
    assert_eq!(ended.survivors, []);
    assert!(sleeps.iter().all(|sleep| named(&ended.leaked, sleep)), "{ended:?}");
    assert!(ended.leaked.named.iter().all(|left| left.pid != worker.child.as_raw()));
}

#[tokio::test]
async fn a_run_that_obeys_the_term_is_not_forced() {
    let mut worker = Worker::with_child(r#"trap "exit 3" TERM; echo ready >&4; while :; do sleep 1; done"#).await;
    let target = worker.target();
    worker.go();
    worker.hears("ready");
    let ended = tree::end(&target, GENEROUS).await;
    assert!(!ended.forced);
    assert_eq!(ended.leaked.total, 0, "{ended:?}");
}

#[tokio::test]
async fn a_stopped_run_takes_the_term() {
    let mut worker = Worker::with_child(r#"trap "exit 3" TERM; echo ready >&4; kill -STOP $$"#).await;
    let target = worker.target();
    worker.go();
    worker.hears("ready");
    until("it has stopped", || {
        target.members().iter().any(|found| found.stopped())
    })
    .await;
    assert!(!tree::end(&target, GENEROUS).await.forced);
}

#[tokio::test]
async fn what_a_finished_run_left_behind_is_ended_and_named() {
    let mut worker = Worker::with_child(&format!("{LEFT_BEHIND}; echo ready >&4; exit 0")).await;
    let target = worker.target();
    worker.go();
    worker.hears("ready");
    until("the child has ended", || is_gone(worker.child)).await;
    assert_eq!(target.remains().len(), 1);

    let ended = tree::end(&target, GENEROUS).await;

    assert!(!ended.forced);
    assert_eq!(
        (ended.leaked.total, ended.leaked.named[0].command.as_str()),
        (1, "sleep 86403")
    );
    assert_eq!(target.remains(), []);
}

#[tokio::test]
async fn a_finished_run_that_left_nothing_has_nothing_to_name() {
    let mut worker = Worker::with_child("exit 0").await;
    let target = worker.target();
    worker.go();
    until("the child has ended", || is_gone(worker.child)).await;
    let others = worker.others();
    let ended = tree::end(&target, NOW).await;
    assert_eq!((ended.forced, ended.leaked.total, ended.survivors.len()), (false, 0, 0));
    assert_eq!(worker.others(), others);
}

#[tokio::test]
async fn a_fork_bomb_ends() {
    // Bounded, should we fail: 2^8 processes, each of which starts two more that start two more, ten times.
    let mut worker = Worker::with_child(
        r#"bomb() {
             trap "" TERM
             if [ $1 -gt 0 ]; then bomb $(($1 - 1)) & bomb $(($1 - 1)) & fi
             for again in 1 2 3 4 5 6 7 8 9 10; do (sleep 0.2 & sleep 0.2 &) ; sleep 0.1; done
             sleep 86403
           }
           bomb 7"#,
    )
    .await;
    let others = worker.others();
    let target = worker.target();
    worker.go();
    until("it has gone off", || target.members().len() > 100).await;

    let ended = tree::end(&target, NOW).await;

    assert_eq!(ended.survivors, []);
    assert!(ended.leaked.total > NAMED);
    assert_eq!(ended.leaked.named.len(), NAMED);
    assert_eq!(worker.others(), others);
}

#[tokio::test]
async fn processes_that_fork_and_exit_do_not_outrun_the_kill() {
    // Each lives for part of a millisecond, and its successor is always an orphan. Bounded, should we fail.
    let hops = r#"hop() { if [ $1 -gt 0 ]; then hop $(($1 - 1)) & else again; fi; }
        again() { if [ $left -gt 0 ]; then left=$((left - 1)) exec sh -c "$HOPS"; else exec sleep 86403; fi; }
        hop 500"#;
    let script = r#"export left=100; for each in $(seq 50); do sh -c "$HOPS" & done; echo ready; sleep 86404"#;
    let mark = Mark::new();
    let (read, write) = std::io::pipe().unwrap();
    let mut launch = shell(&mark, script, vec![(write.into(), 1)]);
    launch.env.push(("HOPS".into(), hops.into()));
    let kept = start(launch);
    let root = kept.started().await.unwrap();
    assert_eq!(first_line(read), "ready");

    let ended = tree::end(&Target::below(kept.keeper(), root), NOW).await;

    assert_eq!(ended.survivors, []);
    assert_eq!(mark.alive(), []);
}

#[tokio::test]
async fn ending_a_command_ends_all_of_it_and_its_keeper() {
    let mark = Mark::new();
    let (read, write) = std::io::pipe().unwrap();
    let script = format!("trap '' TERM; {LEFT_BEHIND}; echo ready; while :; do sleep 1; done");
    let kept = start(shell(&mark, &script, vec![(write.into(), 1)]));
    assert_eq!(first_line(read), "ready");

    let ended = kept.end(NOW).await;

    assert!(ended.forced);
    assert!(named(&ended.leaked, "sleep 86403"), "{ended:?}");
    let command = kept.started().await.unwrap().pid.as_raw();
    assert!(
        ended.leaked.named.iter().all(|left| left.pid != command),
        "the command is no leak: {ended:?}"
    );
    assert_eq!(kept.exited().await, Exit::Signal(9));
    assert_eq!(mark.alive(), []);
    assert!(is_gone(kept.keeper()));
}

#[tokio::test]
async fn what_a_command_left_behind_is_ended_and_named() {
    let mark = Mark::new();
    let kept = start(shell(&mark, &format!("{LEFT_BEHIND}; exit 4"), vec![]));
    assert_eq!(kept.exited().await, Exit::Code(4));
    let leaked = kept.cleared().await;
    assert_eq!((leaked.total, leaked.named[0].command.as_str()), (1, "sleep 86403"));
    assert_eq!(mark.alive(), []);
    assert!(!kept.end(NOW).await.forced);
}

#[tokio::test]
async fn dropping_the_handle_ends_everything() {
    let mark = Mark::new();
    let kept = start(shell(
        &mark,
        "trap '' TERM; (setsid sleep 86403 &); sleep 86404",
        vec![],
    ));
    kept.started().await.unwrap();
    let keeper = kept.keeper();
    drop(kept);
    until("nothing is left", || mark.alive().is_empty()).await;
    until("the keeper was reaped", || {
        coatepec::process::procfs::stat(keeper).is_none()
    })
    .await;
}

#[tokio::test]
async fn signals_to_the_keeper_change_nothing() {
    let mark = Mark::new();
    let kept = start(shell(&mark, "sleep 86403", vec![]));
    kept.started().await.unwrap();
    for signal in [
        Signal::SIGTERM,
        Signal::SIGINT,
        Signal::SIGHUP,
        Signal::SIGUSR1,
        Signal::SIGPIPE,
        Signal::SIGALRM,
    ] {
        send(kept.keeper(), signal);
    }
    assert!(kept.end(GENEROUS).await.survivors.is_empty());
    assert_eq!(kept.exited().await, Exit::Signal(15));
}

#[tokio::test]
async fn the_command_dies_with_its_keeper() {
    let mark = Mark::new();
    let kept = start(shell(&mark, "exec sleep 86403", vec![]));
    let command = PidFd::open_exactly(kept.started().await.unwrap()).unwrap();
    send(kept.keeper(), Signal::SIGKILL);
    command.exited().await;
    assert_eq!(kept.exited().await, Exit::Unknown);
    assert_eq!(kept.cleared().await.total, 0);
}

#[tokio::test]
async fn a_stopped_keeper_is_woken() {
    let mark = Mark::new();
    let (read, write) = std::io::pipe().unwrap();
    let script = format!("trap '' TERM; {LEFT_BEHIND}; echo ready; sleep 86404");
    let kept = start(shell(&mark, &script, vec![(write.into(), 1)]));
    assert_eq!(first_line(read), "ready");
    send(kept.keeper(), Signal::SIGSTOP);
    let ended = kept.end(NOW).await;
    assert!(named(&ended.leaked, "sleep 86403"), "{ended:?}");
    assert_eq!(mark.alive(), []);
    assert!(is_gone(kept.keeper()));
}

#[tokio::test]
async fn a_keeper_that_is_stopped_again_and_again_is_done_without() {
    let mark = Mark::new();
    let (read, write) = std::io::pipe().unwrap();
    let script = format!("trap '' TERM; {LEFT_BEHIND}; echo ready; while :; do kill -STOP $PPID; done");
    let kept = start(shell(&mark, &script, vec![(write.into(), 1)]));
    assert_eq!(first_line(read), "ready");
    let ended = kept.end(NOW).await;
    assert!(ended.forced);
    assert!(ended.survivors.is_empty(), "{ended:?}");
    assert_eq!(mark.alive(), []);
    kept.cleared().await;
    assert!(is_gone(kept.keeper()));
}

#[tokio::test]
async fn the_keeper_has_nothing_of_the_environment() {
    let mark = Mark::new();
    let kept = start(shell(&mark, "exec sleep 86403", vec![]));
    let command = kept.started().await.unwrap().pid;
    // A process has no environment for a moment while it becomes another program.
    until("the command is seen", || mark.alive().contains(&command)).await;
    assert_eq!(fs::read(format!("/proc/{}/environ", kept.keeper())).unwrap(), b"");
}

#[tokio::test]
async fn a_process_is_not_taken_for_another_with_its_pid() {
    let mark = Mark::new();
    let kept = start(shell(&mark, "exec sleep 86403", vec![]));
    let mut id = kept.started().await.unwrap();
    assert!(PidFd::open_exactly(id).is_ok());
    id.start -= 1;
    assert_eq!(
        PidFd::open_exactly(id).unwrap_err().raw_os_error(),
        Some(nix::errno::Errno::ESRCH as i32)
    );
    let ended = tree::end(&Target::below(Pid::from_raw(i32::MAX), id), NOW).await;
    assert!(!ended.forced);
    assert!(!is_gone(id.pid));
}
