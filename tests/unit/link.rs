//! Questions and answers over a line that may break at any moment.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream as Blocking;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadBuf, duplex};
use tokio::net::UnixStream;
use tokio::sync::mpsc::Receiver;
use tokio::task::JoinHandle;

use coatepec::process::channel;
use coatepec::process::lines::LineReader;
use coatepec::worker::link::{Link, Lost};
use coatepec::worker::protocol::{Ask, Told};

/// The longest line here, in bytes.
const LIMIT: usize = 500;

/// The process at the other end.
struct Other {
    asked: Lines<BufReader<UnixStream>>,
    says: DuplexStream,
}

impl Other {
    /// The next question, as it came.
    async fn hears(&mut self) -> Value {
        let line = self.asked.next_line().await.unwrap().expect("a question");
        serde_json::from_str(&line).unwrap()
    }

    async fn says(&mut self, bytes: &[u8]) {
        self.says.write_all(bytes).await.unwrap();
    }

    async fn answers(&mut self, id: impl Into<Value>, told: Value) {
        let line = json!({ "id": id.into(), "told": told });
        self.says(format!("{line}\n").as_bytes()).await;
    }
}

fn linked() -> (Arc<Link>, Receiver<Told>, Other) {
    // Roomy, so that saying something never waits for the listener, who may have gone.
    let (says, heard) = duplex(64 * 1024);
    let (sender, _, theirs) = channel::pair().unwrap();
    let (link, unasked) = Link::new(sender, LineReader::with_limit(heard, LIMIT));
    let theirs = Blocking::from(theirs);
    theirs.set_nonblocking(true).unwrap();
    let asked = BufReader::new(UnixStream::from_std(theirs).unwrap()).lines();
    (Arc::new(link), unasked, Other { asked, says })
}

type Answer = JoinHandle<Result<Told, Lost>>;

/// Asks about this process, without waiting.
fn ask(link: &Arc<Link>, pid: i32) -> Answer {
    let link = Arc::clone(link);
    tokio::spawn(async move { link.ask(&Ask::Reap { pid }, &[]).await })
}

/// Asks, and waits until the other end has heard all of it.
async fn three_pending(link: &Arc<Link>, other: &mut Other) -> [Answer; 3] {
    let asked = [1, 2, 3].map(|pid| ask(link, pid));
    for _ in &asked {
        other.hears().await;
    }
    asked
}

fn status(told: Result<Told, Lost>) -> i32 {
    match told {
        Ok(Told::Reaped {
            status: Some(status),
            signal: None,
        }) => status,
        other => panic!("{other:?}"),
    }
}

fn reaped(status: i64) -> Value {
    json!({ "reaped": { "status": status } })
}

#[tokio::test]
async fn a_question_carries_its_number_and_how_many_descriptors_come_with_it() {
    let (link, _unasked, mut other) = linked();
    let first = ask(&link, 70);
    assert_eq!(
        other.hears().await,
        json!({ "id": 1, "fds": 0, "ask": { "reap": { "pid": 70 } } })
    );
    other.answers(1, reaped(0)).await;
    status(first.await.unwrap());

    let with_fds = tokio::spawn({
        let link = Arc::clone(&link);
        async move {
            let (one, two) = Blocking::pair().unwrap();
            link.ask(&Ask::Ping {}, &[one.as_fd(), two.as_fd()]).await
        }
    });
    assert_eq!(other.hears().await, json!({ "id": 2, "fds": 2, "ask": { "ping": {} } }));
    other.answers(2, json!({ "pong": {} })).await;
    assert!(matches!(with_fds.await.unwrap(), Ok(Told::Pong {})));
}

#[tokio::test]
async fn answers_out_of_order_find_their_questions() {
    let (link, _unasked, mut other) = linked();
    let asked = [10, 20, 30].map(|pid| ask(&link, pid));
    let mut heard = Vec::new();
    for _ in &asked {
        heard.push(other.hears().await);
    }
    for question in heard.iter().rev() {
        let pid = question["ask"]["reap"]["pid"].as_i64().unwrap();
        other.answers(question["id"].clone(), reaped(pid + 1)).await;
    }
    for (asked, expected) in asked.into_iter().zip([11, 21, 31]) {
        assert_eq!(status(asked.await.unwrap()), expected);
    }
}

#[tokio::test]
async fn an_answer_that_comes_too_late_or_to_nothing_is_ignored() {
    let (link, _unasked, mut other) = linked();
    let given_up = ask(&link, 1);
    other.hears().await;
    given_up.abort();
    assert!(given_up.await.unwrap_err().is_cancelled());

    let next = ask(&link, 2);
    other.hears().await;
    other.answers(1, reaped(111)).await;
    other.answers(999, reaped(999)).await;
    other.answers(2, reaped(222)).await;
    assert_eq!(status(next.await.unwrap()), 222);
}

#[tokio::test]
async fn only_the_first_answer_to_a_question_counts() {
    let (link, _unasked, mut other) = linked();
    let first = ask(&link, 1);
    other.hears().await;
    other.answers(1, reaped(1)).await;
    other.answers(1, reaped(2)).await;
    assert_eq!(status(first.await.unwrap()), 1);
    let second = ask(&link, 2);
    other.hears().await;
    other.answers(2, reaped(3)).await;
    assert_eq!(status(second.await.unwrap()), 3);
}

#[tokio::test]
async fn what_is_said_unasked_is_told_apart_from_answers() {
    let (link, mut unasked, mut other) = linked();
    let asked = ask(&link, 1);
    other.hears().await;
    other
        .answers(Value::Null, json!({ "refused": { "reason": "unasked" } }))
        .await;
    other.answers(1, reaped(1)).await;
    assert_eq!(status(asked.await.unwrap()), 1);
    assert!(matches!(unasked.recv().await, Some(Told::Refused { reason }) if reason == "unasked"));
    drop(other);
    assert!(
        unasked.recv().await.is_none(),
        "the end of the line ends what is said unasked, too"
    );
}

#[tokio::test]
async fn what_is_said_unasked_without_end_is_not_kept() {
    let (link, mut unasked, mut other) = linked();
    for _ in 0..1_000 {
        other.answers(Value::Null, json!({ "pong": {} })).await;
    }
    let asked = ask(&link, 70);
    other.hears().await;
    other.answers(1, reaped(0)).await;
    status(asked.await.unwrap());
    drop(other);
    let mut kept = 0;
    while unasked.recv().await.is_some() {
        kept += 1;
    }
    assert!((1..100).contains(&kept), "{kept}");
}

#[tokio::test]
async fn that_nobody_listens_to_what_is_said_unasked_cuts_nothing() {
    let (link, unasked, mut other) = linked();
    drop(unasked);
    let asked = ask(&link, 1);
    other.hears().await;
    other.answers(Value::Null, json!({ "pong": {} })).await;
    other.answers(1, reaped(1)).await;
    assert_eq!(status(asked.await.unwrap()), 1);
}

type Check = fn(&Lost) -> bool;

/// What the last thing said is, the bytes of it, and what it is called.
fn ends() -> Vec<(&'static str, Vec<u8>, Check)> {
    let garbage: Check = |lost| matches!(lost, Lost::Garbage { .. });
    vec![
        ("nothing", b"".to_vec(), |lost| *lost == Lost::Closed),
        ("half a line", br#"{"id": 1, "told": {"po"#.to_vec(), |lost| {
            *lost == Lost::Half
        }),
        (
            "a whole answer without its end",
            br#"{"id": 1, "told": {"pong": {}}}"#.to_vec(),
            |lost| *lost == Lost::Half,
        ),
        (
            "a line that is too long",
            [vec![b' '; LIMIT + 1], b"\n".to_vec()].concat(),
            |lost| *lost == Lost::TooLong,
        ),
        ("a line without end", vec![b' '; 10 * LIMIT], |lost| {
            *lost == Lost::TooLong
        }),
        ("an empty line", b"\n".to_vec(), garbage),
        ("no JSON", b"Could not find gem 'rails'\n".to_vec(), garbage),
        (
            "no UTF-8",
            b"{\"id\": 1, \"told\": {\"refused\": {\"reason\": \"\xff\"}}}\n".to_vec(),
            garbage,
        ),
        (
            "an unknown message",
            b"{\"id\": 1, \"told\": {\"sung\": {}}}\n".to_vec(),
            garbage,
        ),
        (
            "a message without what it must have",
            b"{\"id\": 1, \"told\": {\"forked\": {}}}\n".to_vec(),
            garbage,
        ),
        (
            "two messages in one",
            b"{\"id\": 1, \"told\": {\"pong\": {}, \"forked\": {\"pid\": 1}}}\n".to_vec(),
            garbage,
        ),
        (
            "a number that is none",
            b"{\"id\": -1, \"told\": {\"pong\": {}}}\n".to_vec(),
            garbage,
        ),
    ]
}

#[tokio::test]
async fn when_the_line_is_cut_each_pending_question_gets_the_cause() {
    for (what, bytes, expected) in ends() {
        let (link, _unasked, mut other) = linked();
        let pending = three_pending(&link, &mut other).await;
        other.says(&bytes).await;
        drop(other);
        for answer in pending {
            let lost = answer.await.unwrap().unwrap_err();
            assert!(expected(&lost), "{what}: {lost:?}");
        }
        assert!(expected(&link.cause()), "{what}");
    }
}

#[tokio::test]
async fn after_that_a_question_fails_at_once_with_the_same_cause() {
    for (what, bytes, expected) in ends() {
        let (link, mut unasked, mut other) = linked();
        other.says(&bytes).await;
        let Other { mut asked, says } = other;
        drop(says);
        assert!(unasked.recv().await.is_none(), "{what}");
        let lost = link.ask(&Ask::Ping {}, &[]).await.unwrap_err();
        assert!(expected(&lost), "{what}: {lost:?}");
        drop(link);
        assert_eq!(asked.next_line().await.unwrap(), None, "{what}: something was sent");
    }
}

/// After garbage nothing can be believed.
#[tokio::test]
async fn answers_after_garbage_are_not_heard() {
    let (link, _unasked, mut other) = linked();
    let pending = three_pending(&link, &mut other).await;
    let answer = format!("puts\n{}\n", json!({ "id": 1, "told": reaped(0) }));
    other.says(answer.as_bytes()).await;
    for answer in pending {
        assert!(matches!(answer.await.unwrap(), Err(Lost::Garbage { .. })));
    }
}

#[tokio::test]
async fn answers_before_the_end_are_heard() {
    let (link, _unasked, mut other) = linked();
    let [first, second, third] = three_pending(&link, &mut other).await;
    other.answers(2, reaped(2)).await;
    other.says(b"{").await;
    drop(other);
    assert_eq!(status(second.await.unwrap()), 2);
    assert_eq!(first.await.unwrap().unwrap_err(), Lost::Half);
    assert_eq!(third.await.unwrap().unwrap_err(), Lost::Half);
}

#[tokio::test]
async fn garbage_is_quoted_in_part() {
    let (link, mut unasked, mut other) = linked();
    other.says(format!("oops {}\n", "é".repeat(230)).as_bytes()).await;
    assert!(unasked.recv().await.is_none());
    let Lost::Garbage { problem, excerpt } = link.cause() else {
        panic!("{:?}", link.cause())
    };
    assert!(problem.contains("line 1 column 1"), "{problem}");
    assert_eq!(excerpt, format!("oops {}", "é".repeat(195)));
    assert!(link.cause().to_string().contains("oops"));
}

#[tokio::test]
async fn a_reader_that_is_gone_is_a_line_that_was_cut() {
    let (link, _unasked, other) = linked();
    let Other { asked, says: _quiet } = other;
    drop(asked);
    assert_eq!(link.ask(&Ask::Ping {}, &[]).await.unwrap_err(), Lost::Closed);
}

/// Reading fails, as from a descriptor that went bad.
struct Bad;

impl AsyncRead for Bad {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, _: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Err(io::Error::other("went bad")))
    }
}

#[tokio::test]
async fn a_failure_to_read_is_a_line_that_was_cut() {
    let (sender, _, _theirs) = channel::pair().unwrap();
    let (link, mut unasked) = Link::new(sender, LineReader::new(Bad));
    assert!(unasked.recv().await.is_none());
    let lost = link.ask(&Ask::Ping {}, &[]).await.unwrap_err();
    assert!(
        matches!(&lost, Lost::Io(problem) if problem.contains("went bad")),
        "{lost:?}"
    );
}

/// Whatever followed would be read as the rest of the line.
#[tokio::test]
async fn after_a_question_that_was_given_up_halfway_nothing_is_asked() {
    let (link, _unasked, _other) = linked();
    let huge = Ask::Boot {
        root: "x".repeat(1024 * 1024).into(),
        environment: "config/environment.rb".into(),
    };
    tokio::select! {
        biased;
        answer = link.ask(&huge, &[]) => panic!("more was taken than a socket holds: {answer:?}"),
        () = async { for _ in 0..100 { tokio::task::yield_now().await } } => {}
    }
    assert!(link.ask(&Ask::Ping {}, &[]).await.is_err());
}
