//! Measures what Coatepec costs and saves, beside `bundle exec rspec` and beside the floor (bench/floor.rb). Started by
//! bin/bench.
//!
//! Everything happens in a copy of the app, since some cases save files. A run that does not pass ends the bench: its time
//! would be that of something else.
#![expect(clippy::print_stdout, reason = "its table is its output")]

mod client;
mod figures;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, ExitCode, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use clap::Parser;
use serde_json::{Value, json};

use client::{App, Client, Result, processes_in, program};
use figures::Figures;

const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixture_app");
const FLOOR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/bench/floor.rb");
const RUN: &str = "rails_spec_run";
const STATUS: &str = "rails_runtime_status";

/// Calls before anything is measured.
const WARM_UP: u32 = 3;
/// Cases that boot the app are measured once in so many repetitions.
const DEAR: u32 = 4;
/// Pairs of calls with and without the sandbox in each repetition: they differ by less than the machine does.
const PAIRS: u32 = 5;
const IDLE: Duration = Duration::from_secs(1);
/// An initializer and a spec file of our own, in the copy.
const INITIALIZER: &str = "config/initializers/zz_coatepec_bench.rb";
const BUSY_SPEC: &str = "coatepec_bench_spec.rb";
/// How long the run takes during which status is asked for, in seconds of work.
const BUSY_SECONDS: u32 = 6;

/// Measures first, warm and edited calls beside `bundle exec rspec` and a bare fork.
#[derive(Parser)]
struct Arguments {
    /// Write the numbers to this file, too
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// A Rails app with a config/initializers directory [default: fixture_app]
    #[arg(long, value_name = "APP", default_value = FIXTURE, hide_default_value = true, requires = "spec")]
    root: PathBuf,
    /// A spec file of it that passes, relative to the app
    #[arg(long, value_name = "FILE", default_value = "spec/models/widget_spec.rb")]
    spec: String,
    /// Repetitions of a warm call, at least 20
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(20..))]
    runs: u32,
}

fn main() -> ExitCode {
    match bench(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("The bench was cut short: {error}");
            ExitCode::FAILURE
        }
    }
}

fn bench(arguments: &Arguments) -> Result<()> {
    let mut bench = Bench::new(arguments)?;
    bench.starts()?;
    bench.session()?;
    print!("{}", bench.figures.table());
    if let Some(file) = &arguments.json {
        fs::write(file, format!("{:#}\n", bench.figures.json()))?;
    }
    Ok(())
}

struct Bench {
    app: App,
    spec: String,
    runs: u32,
    figures: Figures,
    saves: u32,
    pairs: u32,
}

impl Bench {
    fn new(arguments: &Arguments) -> Result<Bench> {
        let app = App::copy_of(&arguments.root)?;
        app.write(INITIALIZER, "# Saved now and then.\n")?;
        progress("the database and Ruby's caches, by one `bundle exec rspec` (not counted)");
        app.rspec(&arguments.spec)?;
        Ok(Bench {
            app,
            spec: arguments.spec.clone(),
            runs: arguments.runs,
            figures: Figures::default(),
            saves: 0,
            pairs: 0,
        })
    }

    fn dear_runs(&self) -> u32 {
        self.runs / DEAR
    }

    /// What a new session costs.
    fn starts(&mut self) -> Result<()> {
        progress("initialize");
        for _ in 0..self.runs {
            let started = Instant::now();
            let client = Client::start(self.app.root())?;
            self.figures.add("initialize", started.elapsed());
            client.close()?;
        }
        progress("the first call of a session");
        for _ in 0..self.dear_runs() {
            let mut client = Client::start(self.app.root())?;
            self.run(&mut client, "first")?;
            client.close()?;
        }
        Ok(())
    }

    /// What a call costs in a session that goes on. Case after case in turn, so that all of them, the floor and the
    /// shell included, meet the same machine.
    fn session(&mut self) -> Result<()> {
        let mut client = Client::start(self.app.root())?;
        let mut floor = Floor::start(self.app.root(), &self.spec)?;
        let unconfined = App::copy_of(self.app.root())?;
        unconfined.write(".coatepec.yml", "sandbox: {mode: off}\n")?;
        let mut outside = Client::start(unconfined.root())?;
        progress("calls, edits, the floor and `bundle exec rspec`, in turn");
        for _ in 0..WARM_UP {
            self.call(&mut client)?;
            self.call(&mut outside)?;
            floor.run()?;
        }
        for round in 0..self.runs {
            let result = self.warm(&mut client, "warm")?;
            self.figures.add_phases(&result["timing"]);
            for _ in 0..PAIRS {
                self.pair(&mut client, &mut outside)?;
            }
            floor.run()?;
            self.figures.add("floor", floor.run()?);
            self.edits(&mut client)?;
            if round % DEAR == 0 {
                self.dear(&mut client)?;
            }
        }
        floor.end()?;
        outside.close()?;
        self.readings(&mut client)?;
        self.during_a_run(&mut client)?;
        client.close()?;
        Ok(())
    }

    /// What an edit has left to do, or memory that was swapped out in a long rest, is not this case's business.
    fn warm(&mut self, client: &mut Client, case: &'static str) -> Result<Value> {
        self.call(client)?;
        self.run(client, case)
    }

    /// The same call with and without the sandbox, in an order that changes: what else the machine does meets both.
    fn pair(&mut self, confined: &mut Client, outside: &mut Client) -> Result<()> {
        self.pairs += 1;
        let mut both = [(confined, "warm_confined"), (outside, "warm_unconfined")];
        if self.pairs.is_multiple_of(2) {
            both.reverse();
        }
        for (client, case) in both {
            self.warm(client, case)?;
        }
        Ok(())
    }

    fn edits(&mut self, client: &mut Client) -> Result<()> {
        let (model, spec) = (self.model()?, self.spec.clone());
        self.save(&spec)?;
        self.run(client, "after_spec")?;
        self.save(&model)?;
        sleep(IDLE);
        self.run(client, "after_model_idle")?;
        self.save(&model)?;
        self.run(client, "after_model")?;
        Ok(())
    }

    fn dear(&mut self, client: &mut Client) -> Result<()> {
        self.save(INITIALIZER)?;
        self.run(client, "after_initializer")?;
        let took = self.app.rspec(&self.spec)?;
        self.figures.add("rspec", took);
        Ok(())
    }

    /// Questions about the app, in turn.
    fn readings(&mut self, client: &mut Client) -> Result<()> {
        progress("questions about the app");
        let models = client.call("rails_model", &json!({}))?;
        let models = models["models"].as_array().into_iter().flatten();
        let model = models.rev().find(|model| model["table_name"].is_string());
        let model = &model.ok_or("the app has no model with a table")?["name"];
        let fields = json!([
            "columns",
            "associations",
            "validators",
            "scopes",
            "callbacks",
            "indexes"
        ]);
        let questions = [
            ("routes", "rails_routes", json!({})),
            (
                "controller",
                "rails_controller",
                json!({ "name": "ApplicationController" }),
            ),
            ("model", "rails_model", json!({ "name": model, "fields": fields })),
            ("schema", "rails_schema", json!({})),
            ("job", "rails_job", json!({})),
            ("check", "rails_check", json!({})),
        ];
        for round in 0..=self.runs {
            for (case, tool, arguments) in &questions {
                let asked = Instant::now();
                client.call(tool, arguments)?;
                // The first round forks the process that answers.
                if round > 0 {
                    self.figures.add(case, asked.elapsed());
                }
            }
        }
        Ok(())
    }

    /// Asks for the status, and looks at the memory, while a run works.
    fn during_a_run(&mut self, client: &mut Client) -> Result<()> {
        progress("status during a run");
        let busy = self.write_busy_spec()?;
        let run = client.send(RUN, &json!({ "paths": [busy] }))?;
        // By then it has run the spec's own examples.
        sleep(2 * IDLE);
        for _ in 0..self.runs {
            let asked = Instant::now();
            let status = client.call(STATUS, &json!({}))?;
            self.figures.add("status_during_run", asked.elapsed());
            expect(&status["state"], "running")?;
            sleep(Duration::from_millis(20));
        }
        self.memory(client)?;
        expect(&client.answer(run)?["outcome"], "passed")?;
        Ok(())
    }

    /// The spec itself, and an example that keeps its processor busy.
    fn write_busy_spec(&self) -> Result<String> {
        let file = Path::new(&self.spec).with_file_name(BUSY_SPEC);
        let file = file.to_str().ok_or("the name of the spec is not UTF-8")?;
        // Not `Time.now`: the spec may have stopped it.
        let now = "Process.clock_gettime(Process::CLOCK_MONOTONIC)";
        let work = format!("over = {now} + {BUSY_SECONDS}; nil until {now} > over");
        let busy = format!("\nRSpec.describe(\"A long run\") {{ it(\"works\") {{ {work} }} }}\n");
        self.app.write(file, &(self.app.read(&self.spec)? + &busy))?;
        Ok(file.to_owned())
    }

    fn memory(&mut self, client: &mut Client) -> Result<()> {
        let status = client.call(STATUS, &json!({}))?;
        let processes = processes_in(self.app.root())?;
        let child = processes
            .iter()
            .find(|(_, command)| command.starts_with("coatepec run"));
        let (child, _) = child.ok_or("there is no process of the run")?;
        let figures = &mut self.figures;
        figures.memory(
            "supervisor_rss_mb",
            kilobytes(&format!("/proc/{}/status", client.pid()), "VmRSS:")?,
        );
        for (name, pid) in [
            ("worker_pss_mb", &status["worker_pid"]),
            ("zygote_pss_mb", &status["zygote_pid"]),
            ("child_pss_mb", &json!(child)),
        ] {
            figures.memory(name, kilobytes(&format!("/proc/{pid}/smaps_rollup"), "Pss:")?);
        }
        Ok(())
    }

    fn run(&mut self, client: &mut Client, case: &'static str) -> Result<Value> {
        let started = Instant::now();
        let result = self.call(client)?;
        self.figures.add(case, started.elapsed());
        Ok(result)
    }

    fn call(&self, client: &mut Client) -> Result<Value> {
        let result = client.call(RUN, &json!({ "paths": [self.spec] }))?;
        expect(&result["outcome"], "passed").map_err(|error| format!("{error}: {result}"))?;
        Ok(result)
    }

    /// With another comment at its end each time.
    fn save(&mut self, file: &str) -> Result<()> {
        self.saves += 1;
        let saved = format!("{}\n# Save {}.\n", self.app.read(file)?.trim_end(), self.saves);
        self.app.write(file, &saved)
    }

    /// The model that the spec is about, if it has its name, or any.
    fn model(&self) -> Result<String> {
        let namesake = self.spec.replacen("spec/", "app/", 1).replace("_spec.rb", ".rb");
        if namesake.starts_with("app/models/") && self.app.root().join(&namesake).is_file() {
            return Ok(namesake);
        }
        let models = fs::read_dir(self.app.root().join("app/models"))?.flatten();
        let mut names: Vec<String> = models
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        names.sort();
        let model = names.iter().find(|name| name.ends_with(".rb"));
        Ok(format!("app/models/{}", model.ok_or("the app has no model to save")?))
    }
}

/// A fork without any supervision.
struct Floor {
    ruby: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Floor {
    fn start(app: &Path, spec: &str) -> Result<Floor> {
        let mut ruby = program(Path::new("ruby"))
            .args([FLOOR, spec])
            .current_dir(app)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let to = ruby.stdin.take().ok_or("the floor has no stdin")?;
        let from = BufReader::new(ruby.stdout.take().ok_or("the floor has no stdout")?);
        Ok(Floor { ruby, to, from })
    }

    /// As it measured it itself.
    fn run(&mut self) -> Result<Duration> {
        self.to.write_all(b"\n")?;
        let mut line = String::new();
        self.from.read_line(&mut line)?;
        let milliseconds: f64 = line
            .trim()
            .parse()
            .map_err(|_| format!("the floor said `{}`", line.trim()))?;
        Ok(Duration::from_secs_f64(milliseconds / 1000.0))
    }

    fn end(self) -> Result<()> {
        let Floor { mut ruby, to, .. } = self;
        drop(to);
        ruby.wait()?;
        Ok(())
    }
}

fn expect(value: &Value, wanted: &str) -> Result<()> {
    match value == wanted {
        true => Ok(()),
        false => Err(format!("expected `{wanted}`, and it was {value}").into()),
    }
}

/// A number of a file of /proc, which says kB and means 1,024 bytes.
fn kilobytes(file: &str, label: &str) -> Result<f64> {
    let text = fs::read_to_string(file)?;
    let line = text.lines().find_map(|line| line.strip_prefix(label));
    let number = line.and_then(|rest| rest.trim().strip_suffix(" kB"));
    Ok(number
        .ok_or_else(|| format!("`{file}` has no `{label}`"))?
        .trim()
        .parse()?)
}

#[expect(clippy::print_stderr, reason = "stdout has the table only")]
fn progress(what: &str) {
    eprintln!("measuring: {what} …");
}
