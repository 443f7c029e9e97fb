//! A fake harness: a shell script that copies prepared frames to the pipe, with a prepared record
//! area, and ends as the test says.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use interlap::core::operation::{Op, Status};
use interlap::core::plan::{Clock, Engine, Plan, Shard};
use interlap::core::time_limit::TimeLimit;
use interlap::finding::Stored;
use interlap::finding::trust::Trusted;
use interlap::fuzz::{Observer, Options, Statistics, Warning};
use interlap::model::Spec;
use interlap::report::{directory, warnings};
use interlap::trace::area::{
    HEADER_BYTES, MAGIC, OUTBOX_BYTES, Stage, WORD_MAGIC, WORD_OUTBOX, WORD_ROUND, WORD_STAGE,
    WORD_THREADS, WORDS, word_of_thread,
};
use interlap::trace::frame::{
    ClockInfo, Frame, Hello, Records, RoundEnd, RoundStart, Steps, TRACE_VERSION, TargetInfo, write,
};
use interlap::trace::records::Writer;
use tempfile::TempDir;

/// Prepared harnesses, by the first round of their job.
pub struct Fake {
    dir: TempDir,
    pub plan: Plan,
}

/// Reads the first round from the job; without frames for it, sends none.
const SCRIPT: &str = r#"#!/bin/sh
cd "$(dirname "$0")"
first=$(grep -o '"round_first":[0-9]*' "$1" | grep -o '[0-9]*$')
echo "$first" >> started
if [ -e area-$first ]; then exec 3<area-$first; else exec 3</dev/null; fi
cat hello
cat >/dev/null
[ -e frames-$first ] && cat frames-$first
[ -e end-$first ] && . ./end-$first
[ -e frames-$first ] || cat bye
exit 0
"#;

impl Fake {
    pub fn new(engine: Engine) -> Fake {
        let fake = Fake {
            dir: tempfile::tempdir().expect("temp dir"),
            plan: Plan { engine, ..Plan::new("fake", 1) },
        };
        let target = TargetInfo {
            library: "fake".to_string(),
            version: String::new(),
            model: "lifo".to_string(),
            operations: vec![Op::Push, Op::Pop],
            thread_max: 0,
            capacity: 0,
            block_size: 0,
        };
        let hello = Frame::Hello(Box::new(Hello {
            version: TRACE_VERSION,
            plan: fake.plan.clone(),
            target,
            clock: ClockInfo { clock: Clock::Monotonic, refused: None, nanoseconds_per_unit: 1.0 },
            area_fd: Some(3),
            process: None,
            code: None,
            warnings: Vec::new(),
            unhooked: Vec::new(),
        }));
        let bye = Frame::Bye(interlap::trace::frame::Bye::new(None, None));
        fake.file("hello", &bytes(&[hello]));
        fake.file("bye", &bytes(&[bye]));
        fake.program("harness", SCRIPT);
        fake
    }

    /// The path of one of its files.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn file(&self, name: &str, bytes: &[u8]) {
        fs::write(self.path(name), bytes).expect("room");
    }

    pub fn program(&self, name: &str, script: &str) -> PathBuf {
        self.file(name, script.as_bytes());
        let program = self.path(name);
        fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).expect("our own file");
        program
    }

    /// The first frame of every harness, and these, as bytes.
    pub fn trace(&self, frames: &[Frame]) -> Vec<u8> {
        [fs::read(self.path("hello")).expect("prepared"), bytes(frames)].concat()
    }

    /// Sets what the harness that begins with round `first` sends, and shell commands for its end.
    pub fn sends(&self, first: u64, frames: &[Frame], end: &str) {
        self.file(&format!("frames-{first}"), &bytes(frames));
        self.file(&format!("end-{first}"), end.as_bytes());
    }

    /// Sets what that harness leaves in its record area.
    pub fn leaves(&self, first: u64, round: u64, records: &[Vec<u8>], outbox: &[Frame]) {
        let outbox = bytes(outbox);
        let mut words = [0u64; WORDS];
        words[WORD_MAGIC] = MAGIC;
        words[WORD_STAGE] = Stage::Calls as u64;
        words[WORD_ROUND] = round;
        words[WORD_THREADS] = records.len().saturating_sub(1) as u64;
        words[WORD_OUTBOX] = outbox.len() as u64;
        let mut at = HEADER_BYTES + OUTBOX_BYTES;
        for (thread, records) in records.iter().enumerate() {
            words[word_of_thread(thread)] = at as u64;
            words[word_of_thread(thread) + 1] = records.len() as u64;
            at += records.len();
        }
        let mut area: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        area.resize(HEADER_BYTES, 0);
        area.extend(outbox);
        area.resize(HEADER_BYTES + OUTBOX_BYTES, 0);
        area.extend(records.concat());
        self.file(&format!("area-{first}"), &area);
    }

    pub fn options(&self) -> Options {
        Options {
            plan: self.plan.clone(),
            trusted: Trusted::by_user(),
            key: None,
            jobs: 1,
            shard: Shard::ALL,
            library: PathBuf::from("fake.so"),
            sources: Default::default(),
            regressions: Default::default(),
            harness: self.dir.path().join("harness"),
            time: TimeLimit::of(Duration::from_secs(60)),
            rounds_max: None,
            findings_max: 5,
            known: Default::default(),
            hang_max: Duration::from_secs(10),
            directory: self.dir.path().join("findings"),
            keep: None,
            stop: Arc::new(AtomicBool::new(false)),
            wanted: None,
            leave_after: None,
            can_be_controlled: false,
        }
    }

    /// The first round of every harness, in the order of their starts.
    pub fn started(&self) -> Vec<u64> {
        let text = fs::read_to_string(self.dir.path().join("started")).unwrap_or_default();
        text.lines().map(|line| line.parse().expect("a number")).collect()
    }
}

fn bytes(frames: &[Frame]) -> Vec<u8> {
    let mut bytes = Vec::new();
    frames.iter().for_each(|frame| write(&mut bytes, frame).expect("memory"));
    bytes
}

/// Records of one thread: calls with their answers, if they are not pending.
pub fn records(calls: &[(Op, Option<i64>, u64, Option<Status>)]) -> Vec<u8> {
    let mut bytes = vec![0; 64 * calls.len()];
    let mut writer = Writer::new(&mut bytes);
    for (op, value, start, status) in calls {
        let (args, results) = if *op == Op::Push { (*value, None) } else { (None, *value) };
        writer.call(op.code(), args.as_slice());
        writer.start(*start);
        if let Some(status) = status {
            writer.answer(*status as u8, 1, results.as_slice());
        }
    }
    let len = writer.len();
    bytes.truncate(len);
    bytes
}

/// The counts of an ordinary round.
pub fn steps(round: u64, atomics: u64) -> Steps {
    Steps {
        policy: if round.is_multiple_of(2) { "pos" } else { "pct:3" }.to_string(),
        steps: 100,
        switches: 3,
        schedule: round << 16,
        atomics,
        blocking: 0,
        pairs: vec![round % 3],
        leaked_blocks: 2,
        leaked_bytes: 48,
        recorded: None,
        trail: None,
    }
}

/// A round of one call, whose answer may be wrong.
pub fn round(round: u64, is_wrong: bool, atomics: u64) -> Vec<Frame> {
    let status = if is_wrong { Status::Ok } else { Status::Empty };
    let bytes = records(&[(Op::Pop, is_wrong.then_some(7), 1, Some(status))]);
    let steps = Some(Box::new(steps(round, atomics)));
    vec![
        Frame::Round(RoundStart { round, threads: 2, calls: 1, sequential: false, fresh: false }),
        Frame::Records(Records { thread: 0, bytes }),
        Frame::End(RoundEnd { steps, ..RoundEnd::new(round, false) }),
    ]
}

/// An observer that stores findings and warnings.
#[derive(Default)]
pub struct Ear {
    pub found: Vec<String>,
    pub warnings: Vec<String>,
}

impl Observer for Ear {
    fn started(&mut self, _: &Hello, _: &Spec) {}
    fn progressed(&mut self, _: &Statistics) {}
    fn save(&mut self, stored: &Stored, options: &Options) -> anyhow::Result<()> {
        directory::write_with_script(stored, &options.library, &options.harness)
    }
    fn found(&mut self, stored: &Stored) {
        self.found.push(interlap::report::text::render(stored));
    }
    fn warned(&mut self, warning: &Warning) {
        self.warnings.push(warnings::warning(warning));
    }
}
