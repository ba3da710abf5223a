//! What a run may tell, in a word each, for the tests of everything that is made of it.

use coatepec::run::log::RunLog;
use coatepec::worker::protocol::{
    ExampleFinished, ExampleStatus, Failure, Identity, Record, RunEvent, Started, ThreadDump,
};

/// The process whose records count.
pub(crate) const PID: i32 = 70;

pub(crate) fn log(events: impl IntoIterator<Item = RunEvent>) -> RunLog {
    let mut log = RunLog::of_child(PID);
    events.into_iter().for_each(|event| log.apply(said_by(PID, event)));
    log
}

pub(crate) fn said_by(pid: i32, e: RunEvent) -> Record {
    Record { pid, at: 0, e }
}

/// Files are loaded, and these examples will run.
pub(crate) fn selected(ids: &[&str]) -> Started {
    Started {
        selected: u32::try_from(ids.len()).unwrap(),
        loaded: u32::try_from(ids.len()).unwrap(),
        ids: ids.iter().map(ToString::to_string).collect(),
        ..Started::default()
    }
}

pub(crate) fn identity(id: &str) -> Identity {
    Identity {
        id: id.to_owned(),
        description: format!("does {id}"),
        file: id.split('[').next().unwrap_or_default().to_owned(),
        line: 3,
    }
}

pub(crate) fn end(id: &str, status: ExampleStatus) -> ExampleFinished {
    ExampleFinished {
        example: identity(id),
        status,
        seconds: Some(0.25),
        assertions: None,
        reason: None,
        failure: (status == ExampleStatus::Failed).then(|| failure("RuntimeError", "no")),
        pending_fixed: None,
        cost: None,
    }
}

pub(crate) fn starts(id: &str) -> RunEvent {
    RunEvent::ExampleStarted(identity(id))
}

pub(crate) fn passes(id: &str) -> RunEvent {
    RunEvent::ExampleFinished(end(id, ExampleStatus::Passed))
}

pub(crate) fn fails(id: &str) -> RunEvent {
    RunEvent::ExampleFinished(end(id, ExampleStatus::Failed))
}

pub(crate) fn pends(id: &str) -> RunEvent {
    RunEvent::ExampleFinished(end(id, ExampleStatus::Pending))
}

pub(crate) fn says(text: &str) -> RunEvent {
    RunEvent::Message { text: text.to_owned() }
}

pub(crate) fn goes_wrong_outside(context: &str) -> RunEvent {
    RunEvent::OutsideError {
        context: context.to_owned(),
        failure: failure("RuntimeError", "no"),
    }
}

pub(crate) fn finishes(status: i32) -> RunEvent {
    RunEvent::Finished {
        status,
        quit: false,
        dry_run: false,
        outside: 0,
    }
}

pub(crate) fn leaves(status: i32) -> RunEvent {
    RunEvent::Exit { status }
}

pub(crate) fn hangs_at(frames: &[&str]) -> RunEvent {
    RunEvent::Threads {
        threads: vec![ThreadDump {
            name: None,
            main: true,
            status: "sleep".to_owned(),
            frames: frames.iter().map(ToString::to_string).collect(),
        }],
    }
}

pub(crate) fn failure(class: &str, message: &str) -> Failure {
    Failure {
        class: class.to_owned(),
        message: message.to_owned(),
        ..Failure::default()
    }
}
