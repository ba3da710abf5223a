//! Gems whose native side does not survive a fork: what they do, where it was reported, and what proves that their code
//! is loaded. A gem that is merely in the bundle harms nobody.
//!
//! Looked for and left out, because no report shows a fork at fault: nokogiri, sassc, bootsnap, concurrent-ruby,
//! connection_pool, nio4r and puma. mysql2, sqlite3, pg and redis are safe once their connections are closed before the
//! fork, which the worker does.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Platform {
    All,
    Macos,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// As soon as its code is loaded.
    Loaded,
    /// Only while it has something running; worker/guard.rb knows how to ask.
    Live,
}

#[derive(Debug, Clone, Copy)]
pub struct Entry {
    pub gem: &'static str,
    /// The constant that its code defines.
    pub constant: &'static str,
    pub platform: Platform,
    pub when: When,
    pub hazard: &'static str,
    /// Public reports of it.
    pub source: &'static str,
}

const fn entry(gem: &'static str, constant: &'static str, hazard: &'static str, source: &'static str) -> Entry {
    Entry {
        gem,
        constant,
        platform: Platform::All,
        when: When::Loaded,
        hazard,
        source,
    }
}

const fn live(entry: Entry) -> Entry {
    Entry {
        when: When::Live,
        ..entry
    }
}

const fn macos(entry: Entry) -> Entry {
    Entry {
        platform: Platform::Macos,
        ..entry
    }
}

pub const BUILT_IN: &[Entry] = &[
    entry(
        "grpc",
        "GRPC",
        "its threads are not in the fork, and the first call or the exit waits for them for ever",
        "grpc/grpc#1679, #7951, #10658",
    ),
    entry(
        "mini_racer",
        "MiniRacer",
        "V8's helper threads are not in the fork, and collecting or exiting waits for them",
        "rubyjs/mini_racer#170, #175, #226",
    ),
    entry(
        "ruby-vips",
        "Vips",
        "the thread pool of libvips is not in the fork, and the first operation waits for it",
        "libvips/ruby-vips#155, #396",
    ),
    live(entry(
        "rdkafka",
        "Rdkafka",
        "a producer's threads are not in the fork, and its finalizer can crash",
        "karafka/rdkafka-ruby#19, #385, #864",
    )),
    macos(entry(
        "rdkafka",
        "Rdkafka",
        "crashes in a fork even without a handle",
        "karafka/rdkafka-ruby#864",
    )),
    live(entry(
        "karafka-rdkafka",
        "Rdkafka",
        "as rdkafka, which it is a fork of",
        "karafka/rdkafka-ruby#19, #385, #864",
    )),
    macos(entry(
        "karafka-rdkafka",
        "Rdkafka",
        "as rdkafka, which it is a fork of",
        "karafka/rdkafka-ruby#864",
    )),
    macos(entry(
        "ethon",
        "Ethon",
        "the first use of libcurl in a fork initialises Objective-C classes and aborts",
        "typhoeus/ethon#206",
    )),
    macos(entry(
        "curb",
        "Curl",
        "as ethon: libcurl in a fork aborts",
        "curl/curl#788",
    )),
    macos(entry(
        "patron",
        "Patron",
        "as ethon: libcurl in a fork aborts",
        "curl/curl#788",
    )),
    live(entry(
        "ddtrace",
        "Datadog",
        "its workers hold locks at the fork, and the child waits for them",
        "DataDog/dd-trace-rb#3015, #4967",
    )),
    live(entry(
        "datadog",
        "Datadog",
        "its workers hold locks at the fork, and the child waits for them",
        "DataDog/dd-trace-rb#3015, #4967",
    )),
    live(entry(
        "eventmachine",
        "EventMachine",
        "the reactor seems to run in the fork and does not",
        "eventmachine/eventmachine#213, #569",
    )),
    live(entry(
        "launchdarkly-server-sdk",
        "LaunchDarkly",
        "its stream is dead in the fork: flags are stale, and close waits for ever",
        "launchdarkly/ruby-server-sdk#73",
    )),
    live(entry(
        "mongo",
        "Mongo",
        "its monitors are dead in the fork, and sockets are shared with the parent",
        "mongodb/mongo-ruby-driver#1918, #2049",
    )),
    live(entry(
        "onnxruntime",
        "OnnxRuntime",
        "a session's thread pool is not in the fork, and destroying it there crashes",
        "microsoft/onnxruntime#31961",
    )),
];
