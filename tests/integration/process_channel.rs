//! Lines and descriptors between the supervisor and its processes.

use std::fs::File;
use std::io::{IoSliceMut, Read, Seek, Write};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Duration;

use coatepec::process::channel;
use coatepec::process::fds::{pipe, sealed_memfd};
use coatepec::process::lines::{LineError, LineReader, MAX_LINE};
use nix::sys::socket::{ControlMessageOwned, MsgFlags, UnixAddr, recvmsg};
use tokio::io::AsyncWriteExt;

async fn read(limit: usize, text: &[u8]) -> Vec<String> {
    let mut reader = LineReader::with_limit(text, limit);
    let mut heard = Vec::new();
    loop {
        heard.push(match reader.next().await {
            Ok(None) => return heard,
            Ok(Some(line)) => String::from_utf8(line).unwrap(),
            Err(LineError::TooLong { limit }) => format!("too long for {limit}"),
            Err(LineError::Half(half)) => format!("half: {}", String::from_utf8(half).unwrap()),
            Err(LineError::Io(error)) => panic!("{error}"),
        });
    }
}

#[tokio::test]
async fn lines_come_one_by_one_empty_ones_too() {
    assert_eq!(read(9, b"one\n\ntwo\n").await, ["one", "", "two"]);
    assert!(read(9, b"").await.is_empty());
}

#[tokio::test]
async fn half_a_line_at_the_end_is_no_line() {
    assert_eq!(read(9, b"one\ntw").await, ["one", "half: tw"]);
}

#[tokio::test]
async fn a_line_may_be_as_long_as_the_limit_but_no_longer() {
    assert_eq!(read(3, b"one\nfour\ntwo\n").await, ["one", "too long for 3", "two"]);
    assert_eq!(read(3, b"four").await, ["too long for 3"]);
}

#[tokio::test]
async fn an_oversize_line_is_known_before_it_ends_and_skipped_to_its_end() {
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let mut reader = LineReader::with_limit(ours, 1000);
    let writer = tokio::spawn(async move {
        let mut theirs = theirs;
        for _ in 0..1000 {
            theirs.write_all(&[b'x'; 10_000]).await.unwrap();
        }
        theirs.write_all(b"\nnext\n").await.unwrap();
    });
    assert!(matches!(reader.next().await, Err(LineError::TooLong { limit: 1000 })));
    assert!(!writer.is_finished());
    assert_eq!(reader.next().await.unwrap().unwrap(), b"next");
}

#[tokio::test]
async fn a_dropped_wait_loses_nothing() {
    let (ours, mut theirs) = tokio::io::duplex(64);
    let mut reader = LineReader::new(ours);
    theirs.write_all(b"on").await.unwrap();
    assert!(
        tokio::time::timeout(Duration::from_millis(20), reader.next())
            .await
            .is_err()
    );
    theirs.write_all(b"e\n").await.unwrap();
    assert_eq!(reader.next().await.unwrap().unwrap(), b"one");
}

/// What arrives with the first bytes.
fn receive(socket: &UnixStream) -> (Vec<u8>, Vec<File>) {
    let mut bytes = [0; 4096];
    let mut space = nix::cmsg_space!([i32; 8]);
    let mut parts = [IoSliceMut::new(&mut bytes)];
    let got = recvmsg::<UnixAddr>(
        socket.as_raw_fd(),
        &mut parts,
        Some(&mut space),
        MsgFlags::MSG_CMSG_CLOEXEC,
    )
    .unwrap();
    let mut files = Vec::new();
    for message in got.cmsgs().unwrap() {
        let ControlMessageOwned::ScmRights(fds) = message else {
            continue;
        };
        files.extend(fds.into_iter().map(own));
    }
    let length = got.bytes;
    (bytes[..length].to_vec(), files)
}

#[expect(unsafe_code, reason = "a received descriptor comes as a number")]
fn own(fd: i32) -> File {
    // SAFETY: the kernel has just opened it for us.
    unsafe { File::from_raw_fd(fd) }
}

#[tokio::test]
async fn descriptors_arrive_with_the_first_byte_of_their_line() {
    let (mut sender, _reader, theirs) = channel::pair().unwrap();
    let files = ["one", "two"].map(|text| sealed_memfd("test", text.as_bytes()).unwrap());
    let fds: Vec<_> = files.iter().map(AsFd::as_fd).collect();
    sender.send_with_fds(b"take these\n", &fds).await.unwrap();
    sender.send(b"no more\n").await.unwrap();

    let theirs = UnixStream::from(theirs);
    let (bytes, received) = receive(&theirs);
    let texts: Vec<String> = received
        .into_iter()
        .map(|file| std::io::read_to_string(file).unwrap())
        .collect();
    assert_eq!(
        (bytes, texts),
        (b"take these\n".to_vec(), vec!["one".to_string(), "two".to_string()])
    );
    let (bytes, received) = receive(&theirs);
    assert_eq!((bytes, received.len()), (b"no more\n".to_vec(), 0));
}

#[tokio::test]
async fn a_line_longer_than_the_socket_holds_is_sent_whole() {
    let (mut sender, _reader, theirs) = channel::pair().unwrap();
    let line = vec![b'x'; 4 * MAX_LINE];
    let length = line.len();
    let reading = thread::spawn(move || {
        let mut received = Vec::new();
        UnixStream::from(theirs).read_to_end(&mut received).unwrap();
        received.len()
    });
    let file = sealed_memfd("test", b"one").unwrap();
    sender.send_with_fds(&line, &[file.as_fd()]).await.unwrap();
    drop(sender);
    assert_eq!(reading.join().unwrap(), length);
}

#[tokio::test]
async fn after_a_line_that_was_given_up_halfway_nothing_is_sent() {
    let (mut sender, _reader, theirs) = channel::pair().unwrap();
    let line = vec![b'x'; 4 * MAX_LINE];
    assert!(
        tokio::time::timeout(Duration::from_millis(20), sender.send(&line))
            .await
            .is_err()
    );
    let error = sender.send(b"more\n").await.unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe);
    drop(theirs);
}

#[tokio::test]
async fn a_side_that_went_away_is_an_error_and_an_end() {
    let (mut sender, mut reader, theirs) = channel::pair().unwrap();
    drop(theirs);
    assert_eq!(
        sender.send(b"hello\n").await.unwrap_err().kind(),
        std::io::ErrorKind::BrokenPipe
    );
    assert!(reader.next().await.unwrap().is_none());
}

#[tokio::test]
async fn what_the_other_side_says_comes_as_lines() {
    let (_sender, mut reader, theirs) = channel::pair().unwrap();
    UnixStream::from(theirs).write_all(b"hello\nhal").unwrap();
    assert_eq!(reader.next().await.unwrap().unwrap(), b"hello");
    assert!(matches!(reader.next().await, Err(LineError::Half(half)) if half == b"hal"));
}

#[tokio::test]
async fn only_our_end_of_a_pipe_never_blocks() {
    use nix::fcntl::{FcntlArg, OFlag, fcntl};
    let flags = |fd: &dyn AsFd| OFlag::from_bits_retain(fcntl(fd.as_fd(), FcntlArg::F_GETFL).unwrap());
    let closes = |fd: &dyn AsFd| fcntl(fd.as_fd(), FcntlArg::F_GETFD).unwrap() == 1;
    let (read, write) = pipe().unwrap();
    assert!(flags(&read).contains(OFlag::O_NONBLOCK) && !flags(&write).contains(OFlag::O_NONBLOCK));
    assert!(closes(&read) && closes(&write));
    let mut lines = LineReader::new(read);
    File::from(write).write_all(b"one\n").unwrap();
    assert_eq!(lines.next().await.unwrap().unwrap(), b"one");
    assert!(lines.next().await.unwrap().is_none());
}

#[test]
fn a_sealed_file_reads_from_its_start_and_can_not_be_changed() {
    let file: OwnedFd = sealed_memfd("code", b"puts 1").unwrap();
    let mut file = File::from(file);
    assert_eq!(std::io::read_to_string(&file).unwrap(), "puts 1");
    file.rewind().unwrap();
    assert!(file.write_all(b"x").is_err());
    assert!(file.set_len(0).is_err());
    let again = File::options()
        .write(true)
        .open(format!("/proc/self/fd/{}", file.as_raw_fd()));
    assert!(again.and_then(|mut again| again.write_all(b"x")).is_err());
}
