//! Chains of processes, each of which forks the next one and dies: nobody is there for long enough to be told anything.

use nix::libc::{self, c_int, c_void};
use serde_json::json;

use crate::support::{App, has_text};

const CHAINS: usize = 16;

/// How long they go on if nobody ends them, in seconds: longer than any answer is waited for.
const GO_ON: i64 = 300;

/// Whether each link leaves the process group of the one before.
const LEAVES: &str = "CHAINS_LEAVE";

/// Stacks of one chain, taken in turn: by the time at which the first is taken again, its link has long been gone.
const STACKS: usize = 1024;
const STACK: usize = 16 * 1024;

/// The program that a spec starts: this very test binary.
#[test]
#[ignore = "not a test but what one starts"]
#[expect(unsafe_code, reason = "nothing else forks as quickly as it takes to get away")]
fn make() {
    let leaves = std::env::var_os(LEAVES).is_some();
    for _ in 0..CHAINS {
        // SAFETY: what follows are system calls only, whatever other threads held.
        unsafe {
            if libc::fork() == 0 {
                libc::setsid();
                let mut chain = Chain::new(leaves);
                link((&raw mut chain).cast());
            }
        }
    }
}

struct Chain {
    leaves: bool,
    over: i64,
    stacks: *mut c_void,
    links: usize,
}

impl Chain {
    #[expect(unsafe_code, reason = "stacks are made by hand")]
    fn new(leaves: bool) -> Chain {
        let (access, kind) = (
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
        );
        Chain {
            leaves,
            over: now() + GO_ON,
            // SAFETY: new memory, wherever the kernel likes.
            stacks: unsafe { libc::mmap(std::ptr::null_mut(), STACKS * STACK, access, kind, -1, 0) },
            links: 0,
        }
    }
}

/// A process that makes the next one and is gone. They share their memory, so that there is none to be copied.
#[expect(unsafe_code, reason = "nothing else forks as quickly as it takes to get away")]
extern "C" fn link(chain: *mut c_void) -> c_int {
    // SAFETY: the chain lives as long as its memory, and one link at a time has it.
    unsafe {
        let state = &mut *chain.cast::<Chain>();
        if state.leaves {
            libc::setpgid(0, 0);
        }
        libc::usleep(100);
        if now() < state.over {
            state.links += 1;
            let top = state.stacks.byte_add((state.links % STACKS + 1) * STACK);
            libc::clone(link, top.byte_sub(64), libc::CLONE_VM | libc::SIGCHLD, chain);
        }
        libc::_exit(0)
    }
}

#[expect(unsafe_code, reason = "a link has no thread of Rust's")]
fn now() -> i64 {
    // SAFETY: writes nothing.
    unsafe { libc::time(std::ptr::null_mut()) }
}

/// What they were started by, then passes or hangs.
fn spec(leaves: bool, hangs: bool) -> String {
    let program = std::env::current_exe().expect("we run");
    let env = if leaves {
        format!("{{{LEAVES:?} => '1'}}")
    } else {
        "{}".to_owned()
    };
    let then = if hangs { "sleep" } else { "expect(1).to eq(1)" };
    format!(
        "RSpec.describe 'chains' do
           it 'starts them' do
             system({env}, {program:?}, 'chains::make', '--exact', '--ignored', out: File::NULL, exception: true)
             {then}
           end
         end"
    )
}

#[test]
fn what_forks_as_fast_as_it_dies_is_killed_and_not_waited_for() {
    let app = App::copy();
    let server = app.server();
    for (leaves, hangs, fork) in [
        (false, true, "always"),
        (true, true, "always"),
        (false, false, "always"),
        (true, false, "always"),
        (false, true, "never"),
        (true, false, "never"),
    ] {
        app.write("spec/chains_spec.rb", spec(leaves, hangs));
        let report = server.run_with(
            ["spec/chains_spec.rb"],
            json!({"fork": fork, "timeout_seconds": if hangs { 8 } else { 60 }}),
        );
        let what = format!("leaves {leaves}, hangs {hangs}, {fork}: {report}");
        assert_eq!(report["outcome"], if hangs { "timed_out" } else { "passed" }, "{what}");
        assert!(has_text(&report["leftovers"], "chains::make"), "{what}");
        assert!(!has_text(&report["warnings"], "could not be killed"), "{what}");
        let left = server.beside_the_warm_tree();
        assert!(left.is_empty(), "{what}: left behind: {left:?}");
        let next = server.run(["spec/services/price_list_spec.rb"]);
        assert_eq!(next["outcome"], "passed", "after {what}: {next}");
    }
    server.stop();
}
