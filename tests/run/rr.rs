//! The rr engine, tested with an rr that is a shell script and prints what a real one printed
//! (`tests/data/rr`), and with a real rr where one can record: `INTERLAP_RR` names another than
//! that on the search path, `INTERLAP_RR_ARGS` its global options.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use interlap::check::Partials;
use interlap::core::history::OperationId;
use interlap::core::operation::{Op, Status};
use interlap::core::plan::{Clock, Engine, Recorder};
use interlap::finding::{Failure, Recorded, Stored};
use interlap::fuzz::{Observer, Options, Statistics, Summary, Warning, fuzz};
use interlap::model::Spec;
use interlap::process::rr::locate::Moment;
use interlap::process::rr::{Rr, probe};
use interlap::report::recording;
use interlap::report::words::BREAK_AT_IT_WITH;
use interlap::trace::area::{MAGIC, Stage, WORD_MAGIC, WORD_ROUND, WORD_STAGE, WORDS};
use interlap::trace::frame::{Frame, Hello, Records};
use interlap::trace::rounds::Assembler;

use super::fake::{Ear, Fake, records, round};
use super::tool::{Answer, Call, Tool, read};

/// Records by running the program; replays a prepared output. Fails without `-W`. Has a real
/// harness, which would notice that there is no rr, run native threads (`runs`).
const SCRIPT: &str = r#"#!/bin/sh
here=$(dirname "$0")
echo "$*" >> "$here/called"
[ "$1" = --version ] && { echo "rr version 5.9.0"; exit 0; }
[ "$1" = -W ] || { cat "$here/refusal" >&2; exit 1; }
shift
case "$1 $2" in
record*)
  while [ "$1" != -- ]; do [ "$1" = -o ] && dir=$2; shift; done; shift
  mkdir "$dir" || exit 1
  echo events > "$dir/data"; touch "$dir/incomplete"
  [ -e "$here/dies" ] || mv "$dir/incomplete" "$dir/version"
  [ -e "$here/area-0" ] && exec 3<"$here/area-0"
  [ -e "$here/runs" ] && sed -i 's/"engine":"rr"/"engine":"native"/' "$2"
  "$@"; status=$?
  [ -e "$here/dies" ] && { cat "$here/dies" >&2; exit 1; }
  exit $status;;
"replay -a") cat "$here/replayed";;
replay*) cat "$here/pass";;
esac
exit 0
"#;

const REFUSAL: &str = include_str!("../data/rr/no-counters-5.6.txt");
const PASS: &str = include_str!("../data/rr/pass.txt");
const ASSERTION: &str = include_str!("../data/rr/assertion.txt");

pub fn fake() -> Fake {
    let mut fake = Fake::new(Engine::Rr);
    let program = fake.program("an rr", SCRIPT).display().to_string();
    fake.file("refusal", REFUSAL.as_bytes());
    fake.file("pass", PASS.as_bytes());
    fake.plan.recorder = Recorder { program, args: vec!["-W".into()], ..Recorder::default() };
    fake
}

fn run(fake: &Fake) -> (Summary, Ear) {
    let mut ear = Ear::default();
    let summary = fuzz(&fake.options(), &mut ear).expect("it runs");
    (summary, ear)
}

fn called(fake: &Fake) -> Vec<String> {
    let text = std::fs::read_to_string(fake.path("called")).expect("rr was called");
    text.lines().map(str::to_string).collect()
}

/// A run in which round 17 is violated.
fn violated() -> (Fake, Stored) {
    let fake = fake();
    fake.sends(0, &[round(16, false, 9), round(17, true, 9)].concat(), "sleep 60");
    let (summary, _) = run(&fake);
    let stored = Stored::load(&summary.findings[0].directory).expect("as it was written");
    (fake, stored)
}

/// Asserts that the finding has the moment that `pass.txt` gives, and that the report says so.
#[track_caller]
fn is_located(stored: &Stored, report: &str) {
    let recorded = stored.finding.recorded.as_ref().expect("a recording");
    let moment = Moment { event: 2193, tick: 8870, tid: 16398 };
    assert_eq!(recorded.places[0].begin, Some(moment));
    for line in recording::lines(stored, recorded) {
        assert!(report.contains(&line), "no {line:?} in {report}");
    }
}

#[test]
fn a_violation_ends_its_recording_and_keeps_it_with_the_moments_of_its_calls() {
    let (fake, stored) = violated();
    assert_eq!(fake.started(), [0, 18], "the rounds go on behind the violated one");
    let recorded = stored.finding.recorded.clone().expect("of the rr engine");
    let begin = Moment { event: 2193, tick: 8870, tid: 16398 };
    assert_eq!((recorded.ticks, recorded.places[0].begin), (100, Some(begin)));
    assert!(stored.recording().join("version").is_file(), "the recording is kept");
    let report = read(stored.directory.join("report.txt"));
    is_located(&stored, &report);
    assert!(report.contains("--op A"), "{report}");
    let commands = report.lines().filter(|line| line.contains("replay -q"));
    assert!(commands.clone().count() == 2 && commands.clone().all(|l| l.contains("-g 2183")));
    Tool::new().replay(&stored.directory).with("--trust --op A").expect(0, &[]);
    let called = called(&fake);
    assert!(called[0].starts_with("-W record --chaos -c 100 -o "), "{called:?}");
    assert!(called.iter().any(|line| line.starts_with("-W record --chaos -c 1000 -o ")));
    assert_eq!(called.iter().filter(|line| line.starts_with("-W pack ")).count(), 1, "{called:?}");
    // The next operation is B, and the target's code is shown.
    let stop = called.last().expect("that of --op");
    assert!(stop.contains("-ex interlap--reach 1 -ex interlap--enter"), "{stop}");
    let out = std::fs::read_dir(fake.options().directory).expect("findings");
    let hidden = |entry: &std::fs::DirEntry| entry.file_name().to_string_lossy().starts_with('.');
    assert_eq!(out.filter(|entry| hidden(entry.as_ref().expect("entry"))).count(), 0);
}

#[test]
fn what_cannot_be_explained_has_a_letter_before_all_else() {
    let (_fake, mut stored) = violated();
    let pops: Vec<_> = (0..40).map(|at| (Op::Pop, None, 2 * at + 1, Some(Status::Empty))).collect();
    let bytes = records(&pops);
    let mut assembler = Assembler::default();
    let [start, _, end] = &round(17, true, 9)[..] else { panic!("a round of three frames") };
    let frames = [start.clone(), Frame::Records(Records { thread: 0, bytes }), end.clone()];
    let rounds = frames.into_iter().filter_map(|frame| assembler.feed(frame).expect("a round"));
    stored.round = rounds.last().expect("whole");
    let id = |index| OperationId { thread: 0, index };
    let Failure::Violation { operations, partials, .. } = &mut stored.finding.what else {
        panic!("a violation")
    };
    *operations = (0..40).map(id).collect();
    let (failed, last, near, ways) = (id(1), id(3), Vec::new(), Vec::new());
    let all = Partials { failed, last, near, partials: ways, more: 0, key: None };
    *partials = Some(Box::new(all));
    let expected: Vec<OperationId> = [1, 3].into_iter().chain(16..40).map(id).collect();
    assert_eq!(stored.shown(), expected);
    // The picture has stamps as gdb reads them.
    stored.hello.clock.clock = Clock::Counter;
    let picture = interlap::report::text::picture(&stored);
    assert!(picture.contains("[3, "), "{picture}");
}

/// A disk with room for a finding or for its recording, not for both.
struct FullDisk(Ear);

impl Observer for FullDisk {
    fn started(&mut self, _: &Hello, _: &Spec) {}
    fn progressed(&mut self, _: &Statistics) {}
    fn save(&mut self, stored: &Stored, options: &Options) -> anyhow::Result<()> {
        let runs = std::fs::read_dir(&options.directory)?.flatten();
        let begun = runs.map(|run| run.path().join("job-0/recording-0"));
        match begun.chain([stored.recording()]).any(|recording| recording.is_dir()) {
            true => anyhow::bail!("no room"),
            false => self.0.save(stored, options),
        }
    }
    fn found(&mut self, stored: &Stored) {
        self.0.found(stored);
    }
    fn warned(&mut self, warning: &Warning) {
        self.0.warned(warning);
    }
}

#[test]
fn a_finding_without_room_for_its_recording_is_written_and_says_so() {
    let fake = fake();
    fake.sends(0, &round(17, true, 9), "sleep 60");
    let mut disk = FullDisk(Ear::default());
    let summary = fuzz(&fake.options(), &mut disk).expect("it runs");
    let (ear, directory) = (disk.0, &summary.findings[0].directory);
    let stored = Stored::load(directory).expect("the finding counts more");
    assert!(stored.finding.recorded.is_none() && !stored.recording().exists());
    assert!(ear.warnings[0].contains("the recording of") && ear.warnings[0].contains("no room"));
    let report = &ear.found[0];
    assert!(report.contains("--history-only") && !report.contains(BREAK_AT_IT_WITH), "{report}");
    std::fs::remove_dir_all(directory).expect("written");
    let unwritten = interlap::report::text::render(&stored);
    assert!(!unwritten.contains("interlap replay"), "{unwritten}");
}

#[test]
fn a_harness_is_not_ended_before_the_write_of_its_round_has_returned() {
    let fake = fake();
    let area = |name: &str, stage: Stage, round: u64| {
        let mut words = [0; WORDS];
        (words[WORD_MAGIC], words[WORD_STAGE], words[WORD_ROUND]) = (MAGIC, stage as u64, round);
        let bytes: Vec<u8> = words.iter().flat_map(|word: &u64| word.to_le_bytes()).collect();
        fake.file(name, &bytes);
    };
    area("area-0", Stage::Sent, 17);
    area("area-18", Stage::Sent, 18);
    let goes_on = "sleep 0.3; touch goes-on; dd if=area-18 of=area-0 conv=notrunc; \
                   sleep 60; touch slept";
    fake.sends(0, &round(17, true, 9), goes_on);
    let (summary, _) = run(&fake);
    assert_eq!(summary.findings.len(), 1);
    assert!(fake.path("goes-on").exists(), "its replay would not write the round");
    assert!(!fake.path("slept").exists(), "and then it is ended at once");
}

#[test]
fn a_recording_is_replayed_and_compared_with_the_history() {
    let (fake, stored) = violated();
    let directory = &stored.directory;
    let tool = Tool::new();
    // It was made without a key.
    let replay = |frames: &[Frame]| {
        fake.file("replayed", &fake.trace(frames));
        tool.replay(directory).with("--trust").run()
    };
    replay(&round(17, true, 9)).expect(1, &["the same violation", "is intact: replayed"]);
    replay(&round(17, false, 9)).expect(3, &["does not give the stored history"]);
    fake.file("refusal", ASSERTION.as_bytes());
    tool.replay(directory)
        .with("--trust --rr-arg -X")
        .expect(2, &["rr cannot replay the recording", "Assertion `t->desched_rec()"]);
    fake.file("refusal", b"Unknown option -X\nUsage: rr [OPTION]\n  -a, --autopilot\n");
    for stop in ["", "--op A"] {
        let answer = tool.replay(directory).with("--trust --rr-arg -X").with(stop).run();
        let parts = ["does not know an option or this kind of recording", "`--rr PATH`"];
        answer.expect(2, &parts).lacks("autopilot");
    }
    let pass = std::fs::read_to_string(fake.path("called")).expect("calls");
    assert!(pass.contains("-X replay -a "), "{pass}");
}

#[test]
fn replay_locates_the_calls_that_a_failed_pass_did_not() {
    let fake = fake();
    fake.file("pass", include_bytes!("../data/rr/incomplete.txt"));
    fake.sends(0, &round(17, true, 9), "sleep 60");
    let (summary, ear) = run(&fake);
    assert!(ear.found[0].contains("the trace is incomplete"), "{}", ear.found[0]);
    fake.file("pass", PASS.as_bytes());
    fake.file("replayed", &fake.trace(&round(17, true, 9)));
    let directory = &summary.findings[0].directory;
    let answer = Tool::new().replay(directory).with("--trust").expect(1, &[]);
    is_located(&Stored::load(directory).expect("saved again"), &answer.all());
}

#[test]
fn an_rr_that_gives_up_is_a_warning_and_no_finding() {
    let fake = fake();
    fake.file("dies", ASSERTION.as_bytes());
    fake.sends(0, &round(16, false, 9), "rm -f ./dies; cp assertion dies; exit 0");
    fake.file("assertion", ASSERTION.as_bytes());
    fake.sends(17, &round(17, false, 9), "rm dies; cat bye");
    let (summary, ear) = run(&fake);
    assert!(summary.findings.is_empty(), "{:?}", ear.found);
    assert_eq!(summary.statistics.rounds, 2);
    assert!(ear.warnings[0].contains("Assertion `t->desched_rec()"), "{:?}", ear.warnings);
}

#[test]
fn a_hang_is_what_the_user_says_and_names_the_calls_under_way() {
    let fake = fake();
    let pending = records(&[(Op::Push, Some(3), 1, None)]);
    fake.sends(0, &[], "sleep 60");
    fake.leaves(0, 17, &[Vec::new(), pending, Vec::new()], &[]);
    let options = Options { hang_max: Duration::from_millis(400), ..fake.options() };
    let mut ear = Ear::default();
    let summary = fuzz(&options, &mut ear).expect("it runs");
    assert_eq!(summary.findings.len(), 1, "{:?}", ear.warnings);
    let stored = Stored::load(&summary.findings[0].directory).expect("written");
    assert!(stored.recording().join("version").is_file());
    let text = &ear.found[0];
    assert!(text.contains("thread 1 in its call 1, push(3), has not returned"), "{text}");
}

#[test]
fn an_rr_that_never_gets_through_a_round_ends_the_run() {
    let fake = fake();
    fake.file("dies", b"[FATAL src/A.cc:1:f() errno: ENOSPC] Can't write 12 bytes\n");
    fake.sends(0, &[], "exit 0");
    let error = fuzz(&fake.options(), &mut Ear::default()).err().expect("no recording");
    let says = format!("{error:#}");
    assert!(says.contains("Can't write 12 bytes (ENOSPC)") && says.contains("space"), "{says}");
}

#[test]
fn an_rr_that_cannot_record_says_why_and_what_else_there_is() {
    let (fake, tool) = (fake(), Tool::new());
    let program = fake.path("an rr").display().to_string();
    let fuzz = tool.fuzz("treiber_aba").engine("rr").with("--rr").arg(&program).run();
    let parts = ["perf events available", "virtual PMU", "`--engine controlled`"];
    fuzz.expect(2, &parts);
    assert!(!tool.path("findings").exists(), "nothing was begun");
    tool.call("doctor --rr").arg(&program).expect(0, &["cannot record here: Unable to open"]);
    let run = tool.call("doctor --rr").arg(&program).with("--rr-arg -W");
    // One thing is said of it, whatever this machine has.
    run.expect(0, &["rr version 5.9.0: records here"]).lacks("no performance counters\n");
    let run = tool.fuzz("treiber_aba").engine("rr").with("--rr").arg("./no rr");
    run.expect(2, &["no rr was not found", "apt-get install rr"]);
}

#[test]
fn a_target_that_does_not_compile_with_hooks_is_recorded_without() {
    let (fake, tool) = (fake(), Tool::new());
    // A flag for the hooks defines this macro.
    let refuses = "#ifdef __GCC_HAVE_SYNC_COMPARE_AND_SWAP_16\n#error hooks\n#endif\n";
    let text = refuses.to_string() + &super::adapters::enqueue("");
    let answer = under(&fake.plan.recorder, tool.fuzz_text("refuses.cpp", &text).rounds(20));
    // Without `runs`, the harness notices that there is no rr.
    answer.expect(2, &["rr switches threads at fewer places", "was to run under rr"]);
    assert!(called(&fake).iter().any(|line| line.contains("record --chaos")));
    tool.fuzz_text("refuses.cpp", &text).controlled().rounds(20).expect(2, &["hooks"]);
}

#[test]
fn other_findings_have_no_recording_to_break_at() {
    let tool = Tool::new();
    let wrong = super::adapters::dequeue("value = 12345; return true;");
    let finding = tool
        .fuzz_text("wrong.cpp", &wrong)
        .native()
        .within("60s")
        .findings(1)
        .expect(1, &[])
        .finding();
    tool.replay(finding).with("--op A").expect(2, &["controlled"]);
}

/// An rr that records here; none, with a message, if the test is skipped.
fn real() -> Option<Recorder> {
    let variable = |name| std::env::var(name).unwrap_or_default();
    let program = Some(variable("INTERLAP_RR")).filter(|program| !program.is_empty());
    let recorder = Recorder {
        program: program.unwrap_or("rr".to_string()),
        args: variable("INTERLAP_RR_ARGS").split_whitespace().map(str::to_string).collect(),
        ..Recorder::default()
    };
    match probe::probe(&Rr::new(&recorder)) {
        Ok(_) => Some(recorder),
        Err(refusal) => {
            // Not by a macro, whose output the test runner captures.
            let says = format!("SKIPPED: rr cannot record here: {}\n", refusal.says);
            std::io::stderr().write_all(says.as_bytes()).expect("standard error");
            None
        }
    }
}

/// Runs the command with the options that name this rr.
fn under(recorder: &Recorder, run: Call) -> Answer {
    let args = recorder.args.iter().flat_map(|arg| ["--rr-arg", arg]);
    run.engine("rr").args(["--rr", &recorder.program]).args(args).run()
}

/// The recording of the only finding.
#[track_caller]
fn recorded(answer: &Answer) -> Recorded {
    answer.stored().finding.recorded.expect("a recording")
}

#[test]
fn a_real_recording_is_made_replayed_and_stopped_at_the_stamp() {
    let Some(recorder) = real() else { return };
    let tool = Tool::new();
    let run = tool.fuzz("set_undecided_insert").seed(1).within("300s").findings(1).jobs(1);
    let answer = under(&recorder, run.with("--rr-ticks 100,1000").out("out of rr"));
    // No unfinished recording is left.
    let finding = answer.finding();
    let name = answer.stored().finding.name;
    answer.expect(1, &[BREAK_AT_IT_WITH, &format!("interlap replay 'out of rr/{name}' --op ")]);
    assert!(recorded(&answer).places[0].begin.is_some());
    tool.replay(&finding).expect(1, &["the same violation", "is intact: replayed"]);
    let stored = Stored::load(&finding).expect("a finding");
    let (start, end) = (stored.boxes()[0].start, stored.boxes()[0].end.expect("it ended"));
    let gdb = |op: &str, more: &[&str]| tool.replay(&finding).args(["--op", op]).args(more).run();
    // In the method that the harness calls behind the marker.
    let entered = gdb("A", &["--", "-nx", "-batch", "-ex", "bt", "-ex", "info threads"]);
    entered.expect(0, &["A  thread", "#0  targets::UnorderedSet", "perform"]);
    let names = ["(thread 0)", "\"thread 0\""];
    assert!(names.iter().any(|name| entered.out.contains(name)), "{}", entered.all());
    let look = ["-nx", "-batch", "-ex", "p $rdx", "-ex", "bt"];
    let back = ["-ex", "reverse-continue", "-ex", "p $rdx"];
    let stamps = [format!("$1 = {end}\n"), format!("$2 = {start}\n")];
    let ended = gdb("A", &[&["--reverse", "--"], &look[..], &back].concat());
    ended.expect(0, &[&stamps[0], "interlap_op_end", &stamps[1]]);
    let commands = ["-ex", "interlap-ops", "-ex", "interlap-op A", "-ex", "p $il_at"];
    let other = gdb("B", &[&["--"], &look[..], &commands].concat());
    other.expect(0, &["A  thread", "B  thread", "$2 = 1\n"]);
}

#[test]
fn rr_switches_threads_between_two_accesses() {
    let Some(recorder) = real() else { return };
    let tool = Tool::new();
    let run = tool.fuzz("atomic_register_split_cas").seed(1).within("300s").findings(1);
    let answer = under(&recorder, run);
    answer.expect(1, &["compare_exchange"]);
    assert!(recorded(&answer).places[0].begin.is_some());
}

/// Runs rr on traces in `folder`; gives its output.
fn rr(recorder: &Recorder, folder: &Path, command: &str, args: &[&str], input: &str) -> String {
    let mut rr = Command::new(&recorder.program);
    rr.env("_RR_TRACE_DIR", folder).args(&recorder.args).arg(command).args(args);
    rr.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = rr.spawn().expect("it starts");
    child.stdin.take().expect("piped").write_all(input.as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

#[test]
fn a_controlled_round_that_rr_recorded_is_executed_backwards() {
    let Some(recorder) = real() else { return };
    let tool = Tool::new();
    let run = tool.fuzz("treiber_aba").seed(1).within("60s").findings(1);
    let finding = run.expect(1, &[]).finding();
    let stored = Stored::load(&finding).expect("a finding");
    let (start, end) = (stored.boxes()[0].start, stored.boxes()[0].end.expect("it ended"));
    let folder = tool.path("recorded by rr");
    let plan = finding.join("debug.json");
    let harness = [env!("CARGO_BIN_EXE_interlap-harness"), "--debug"];
    let run = [&harness[..], &[plan.to_str().expect("UTF-8")]].concat();
    rr(&recorder, &folder, "record", &run, "");
    let commands = format!(
        "set pagination off\nset confirm off\nbreak interlap_op_end if $rdx == {end}\n\
         continue\np $rdx\ndelete\nbreak interlap_op_begin if $rdx == {start}\n\
         reverse-continue\np $rdx\nbt\nquit\n"
    );
    let printed = rr(&recorder, &folder, "replay", &[], &commands);
    for part in [&format!("$1 = {end}\n"), &format!("$2 = {start}\n"), "perform"] {
        assert!(printed.contains(part), "no {part:?} in {printed}");
    }
}

#[test]
fn a_target_that_dies_under_a_real_rr_is_a_finding() {
    let Some(recorder) = real() else { return };
    let tool = Tool::new();
    let text = super::adapters::enqueue("if (added == 300) abort();");
    let run = tool.fuzz_text("dies.cpp", &text).within("120s").findings(1).jobs(1);
    let answer = under(&recorder, run.with("--rr-ticks 1000"));
    answer.expect(1, &["SIGABRT"]);
    assert!(recorded(&answer).last.is_some());
    tool.replay(answer.finding()).expect(1, &["it can be replayed to its end"]);
}

/// Two locks, taken in two orders.
const TWO_LOCKS: &str = r#"
#include <deque>
#include <mutex>
#include <interlap.hpp>
struct Target {
    static constexpr auto model = "fifo";
    std::mutex first, second;
    std::deque<int64_t> values;
    void enqueue(int64_t value) {
        std::lock_guard<std::mutex> one(first), two(second);
        values.push_back(value);
    }
    bool dequeue(int64_t &value) {
        std::lock_guard<std::mutex> one(second), two(first);
        if (values.empty()) return false;
        value = values.front();
        values.pop_front();
        return true;
    }
};
INTERLAP_TARGET(Target)
"#;

#[test]
fn the_threads_of_a_real_hang_are_shown_where_they_wait() {
    let Some(recorder) = real() else { return };
    let tool = Tool::new();
    let run = tool.fuzz_text("locks.cpp", TWO_LOCKS).within("120s").findings(1).jobs(1);
    let answer = under(&recorder, run.with("--hang 3s"));
    answer.expect(1, &["hang"]);
    let ended = tool.replay(answer.finding()).args(["--gdb", "--", "-nx", "-batch"]).run();
    ended.expect(0, &["Target::enqueue", "Target::dequeue"]);
}

#[test]
fn a_folder_that_is_removed_during_a_run_is_made_again() {
    let (_fake, stored) = violated();
    let folder = stored.directory.parent().expect("that of the run");
    std::fs::remove_dir_all(folder).expect("ours");
    stored.keep_original().expect("made again");
    assert!(stored.directory.join("original.mpk").is_file());
    std::fs::remove_dir_all(folder).expect("ours");
    stored.save().expect("made again");
    Stored::load(&stored.directory).expect("whole");
}
