//! A fault: the target ended its process, hangs, or was stopped by the controlled engine.
//! It is put together from what the process left (exit status, record area, output, the engine's
//! last frame), and has the history up to that moment.
//!
//! - `exception`: An exception that ended a process.
//! - `kind`: How a process ended: the kinds of faults and their names.
//! - `site`: Where a fault is, without what differs between two sightings of it: a part of its
//!   signature.

mod exception;
mod kind;
mod site;

use std::fs::File;

use crate::binary::symbols::{Source, SourceLines};
use crate::core::history::History;
use crate::core::method::Methods;
use crate::core::operation::Status;
use crate::core::plan::RacePlaces;
use crate::trace::area::{DOES_RUN, DOES_WAIT, Ended, Snapshot, Stack, Stage};
use crate::trace::frame::{
    Awaited, CodeRange, Deed, Detected, DetectedKind, Place, Steps, Wait, When, Who,
};
use crate::trace::records::{Reader, RecordError};

pub use exception::Exception;
pub use kind::{FaultKind, Hang, names};
pub use site::{Site, SiteLine};

/// An action of a thread that led to a fault.
#[derive(Clone, Debug, PartialEq)]
pub struct FaultPlace {
    pub who: Who,
    pub deed: Deed,
    code: Option<u64>,
    /// Return addresses of its callers.
    backtrace: Vec<u64>,
    /// Of a livelock: whether the thread is in a loop, whose function `location` is.
    loops: bool,
    /// Its source line, if known.
    location: Option<Source>,
    /// If that is not the target's: the nearest caller that is. What came before the fault has it
    /// only with a trail.
    caller: Option<Source>,
}

impl FaultPlace {
    fn new(place: Place) -> FaultPlace {
        let Place { who, deed, code, around: backtrace } = place;
        FaultPlace { who, deed, code, backtrace, loops: false, location: None, caller: None }
    }

    /// The source line to show.
    fn source(&self) -> Option<&Source> {
        self.caller.as_ref().or(self.location.as_ref())
    }
}

/// How, when and where a process ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    pub kind: FaultKind,
    /// For a hang that the harness did not notice itself.
    pub hang: Option<Hang>,
    pub stage: Stage,
    pub round: u64,
    /// The part of a long round that `history` belongs to.
    pub part: u64,
    /// Threads that called at once in that round.
    pub threads: u32,
    /// The thread that faulted, where known.
    pub thread: Option<u32>,
    /// The address that could not be accessed.
    pub address: Option<u64>,
    /// Where a signal came, and what called the code there.
    stack: Vec<u64>,
    pub exception: Option<Exception>,
    /// The source line of the fault, if known; of an exception, that of the throw.
    pub location: Option<Source>,
    /// What the engine reports, the fault itself first.
    pub places: Vec<FaultPlace>,
    /// What the engine counted up to the fault.
    pub steps: Option<Box<Steps>>,
    /// The last of what the target printed.
    pub output: String,
    /// Every call up to the fault; those under way are pending.
    pub history: History,
    /// Whether the history has every call. If the target overwrote records it has not and must not
    /// be checked: missing calls could make a good history look bad.
    pub complete: bool,
    /// Whether the process had grown in earlier rounds, which may have caused this.
    pub grown: bool,
}

/// Whether the output says that an allocation failed.
fn is_out_of_memory(output: &str) -> bool {
    output.contains("std::bad_alloc") || output.contains("memory allocation of")
}

impl Fault {
    /// Whether SIGKILL ended the process, not known to be sent by itself.
    pub fn was_killed(&self) -> bool {
        self.kind == FaultKind::Killed
    }

    /// A fault of which only the kind and the output are known.
    pub fn new(kind: FaultKind, output: String, round: u64) -> Fault {
        let kind = match kind {
            FaultKind::Signal(libc::SIGABRT) if is_out_of_memory(&output) => FaultKind::OutOfMemory,
            FaultKind::Signal(libc::SIGKILL) => FaultKind::Killed,
            kind => kind,
        };
        Fault {
            kind,
            hang: None,
            stage: Stage::Idle,
            round,
            part: 0,
            threads: 0,
            thread: None,
            address: None,
            stack: Vec::new(),
            exception: None,
            location: None,
            places: Vec::new(),
            steps: None,
            output,
            history: History::default(),
            complete: true,
            grown: false,
        }
    }

    /// A fault that the controlled engine detected.
    pub fn from_detected(detected: Detected, output: String) -> Fault {
        Fault {
            thread: detected.thread,
            places: detected.places.into_iter().map(FaultPlace::new).collect(),
            steps: Some(detected.steps),
            ..Fault::new(FaultKind::Detected(detected.kind), output, detected.round)
        }
    }

    /// Adds what the record area holds, of a target with these methods.
    pub fn add_snapshot(&mut self, area: &File, snapshot: &Snapshot, methods: &Methods) {
        self.stage = snapshot.stage;
        self.round = snapshot.round;
        self.part = snapshot.part;
        self.grown = snapshot.grown;
        self.threads = snapshot.records.len().saturating_sub(1) as u32;
        self.history.drain = Some(self.threads);
        if let Some(note) = snapshot.signal {
            self.thread = note.thread;
            if note.signal == libc::SIGKILL && self.kind == FaultKind::Killed {
                self.kind = FaultKind::Signal(libc::SIGKILL);
            }
            let memory = matches!(note.signal, libc::SIGSEGV | libc::SIGBUS);
            self.address = memory.then_some(note.address);
            self.stack =
                [note.program_counter].into_iter().chain(snapshot.fault_stack.clone()).collect();
        }
        if self.kind == FaultKind::Signal(libc::SIGABRT) {
            let noted = snapshot.exception.as_ref().map(|(of, text)| Exception::new(of, text));
            self.exception = noted.or_else(|| Exception::from_output(&self.output));
            if self.exception.is_some() {
                self.kind = FaultKind::Exception;
                // Not where the signal came.
                self.stack = snapshot.fault_stack.clone();
            }
        }
        if let Some(ended) = snapshot.ended {
            self.kind = FaultKind::Harmed(ended);
            self.thread = snapshot.ended_thread.filter(|_| ended == Ended::ThreadExit);
        }
        if matches!(self.stage, Stage::Calls | Stage::Drain | Stage::Destroy | Stage::Pause) {
            for thread in 0..snapshot.records.len() {
                let mut reader = Reader::new(thread as u32, methods.clone());
                let records = snapshot.thread_records(area, thread);
                let is_unchanged = |records: &Vec<u8>| snapshot.is_unchanged(area, thread, records);
                let read = records
                    .map_err(|_| RecordError::Short)
                    .and_then(|records| {
                        is_unchanged(&records).then_some(()).ok_or(RecordError::Short)?;
                        reader.feed(&records)
                    })
                    .and_then(|()| reader.finish());
                self.complete &= read.is_ok();
                if matches!(read, Err(RecordError::Short | RecordError::Damaged(_))) {
                    self.kind = FaultKind::Harmed(Ended::Damaged);
                }
                self.history.threads.extend(read.unwrap_or_default());
            }
            self.history.threads.retain(|thread| !thread.operations().is_empty());
            self.history.settle();
        }
    }

    /// Adds where the threads are, of a process that hangs: those that the target holds up.
    pub fn add_stacks(&mut self, stacks: Vec<Stack>) {
        let keeper = self.threads;
        for Stack { thread, does, code } in stacks {
            let deed = match does {
                DOES_RUN => Deed::Runs,
                DOES_WAIT => Deed::Waits(Wait { on: Awaited::Other, address: 0, holder: None }),
                address => Deed::Waits(Wait { on: Awaited::Futex, address, holder: None }),
            };
            let when = if thread == keeper { When::Keeper } else { self.when(thread) };
            if code.is_empty() && !matches!(when, When::InCall(_)) {
                continue;
            }
            let (who, mut code) = (Who { thread, when }, code.into_iter());
            let (code, around) = (code.next(), code.collect());
            self.places.push(FaultPlace::new(Place { who, deed, code, around }));
        }
    }

    /// Adds the calls that have not returned, where nothing is known about stacks.
    pub fn add_calls_under_way(&mut self) {
        for thread in self.history.clients() {
            let when = self.when(thread);
            if matches!(when, When::InCall(_)) {
                let (who, deed) = (Who { thread, when }, Deed::HasNotReturned);
                let nowhere = Place { who, deed, code: None, around: Vec::new() };
                self.places.push(FaultPlace::new(nowhere));
            }
        }
    }

    /// Where a thread is in its calls, by the history.
    fn when(&self, thread: u32) -> When {
        let clients = || self.history.threads.iter().filter(|own| own.client == thread);
        let calls = clients().map(|own| own.operations().len()).sum::<usize>() as u32;
        let mut last = clients().filter_map(|own| own.operations().last());
        match last.any(|last| last.status == Status::Pending) {
            true => When::InCall(calls),
            false if calls == 0 => When::BeforeCalls,
            false => When::AfterCall(calls),
        }
    }

    /// Where the accesses of a data race are.
    pub fn race_places(&self, code: CodeRange) -> Option<RacePlaces> {
        if self.kind != FaultKind::Detected(DetectedKind::DataRace) {
            return None;
        }
        let at = |place: &FaultPlace| code.in_file(place.code?);
        let mut places = self.places.iter().map(|place| at(place).unwrap_or(0));
        let (one, other) = (places.next()?, places.next()?);
        Some([one.min(other), one.max(other)])
    }

    /// Finds the source lines of the fault in the target's debugging information.
    pub fn locate(&mut self, lines: &mut SourceLines, code: Option<CodeRange>) {
        let Some(code) = code else { return };
        let stack = self.stack.iter().filter_map(|at| code.in_file(*at));
        let stack = lines.sources(&stack.collect::<Vec<u64>>());
        self.location = stack.into_iter().flatten().find(|source| source.is_own);
        for place in &mut self.places {
            let at = place.code.and_then(|at| code.in_file(at));
            place.location = at.and_then(|at| lines.sources(&[at]).pop().flatten());
        }
        let turns =
            matches!(self.kind, FaultKind::Detected(DetectedKind::Livelock | DetectedKind::Hang));
        for place in &mut self.places {
            let frames = place.code.into_iter().chain(place.backtrace.iter().copied());
            let frames: Vec<u64> = frames.filter_map(|at| code.in_file(at)).collect();
            if turns && place.deed == Deed::Runs {
                let found = lines.of_loop(&frames);
                place.loops = found.is_some();
                place.location = found.or(place.location.take());
            }
            if place.location.as_ref().is_some_and(|location| !location.is_own) {
                let found = lines.sources(frames.get(1..).unwrap_or_default());
                place.caller = found.into_iter().flatten().find(|source| source.is_own);
            }
        }
    }

    /// The source lines to show, if known: that of a crash, then those of the places.
    pub fn sources(&self) -> Vec<Option<Source>> {
        let places = self.places.iter().map(|place| place.source().cloned());
        [self.location.clone()].into_iter().chain(places).collect()
    }

    /// The line of output that explains the fault: a failed assertion, shortened, or an exception.
    pub fn message(&self) -> Option<String> {
        if let Some(exception) = &self.exception {
            return Some(exception.text.clone()).filter(|text| !text.is_empty());
        }
        let is_explanation = |line: &&str| {
            [
                "Assertion",
                "terminate called",
                "fatal runtime error",
                "ERROR:",
                "corrupt",
                // "*** stack smashing detected ***", "*** buffer overflow detected ***"
                " detected ***",
                "free()",
                "malloc",
            ]
            .iter()
            .any(|mark| line.contains(mark))
        };
        let line = self.output.lines().map(str::trim).rfind(is_explanation)?;
        Some(assertion(line).unwrap_or_else(|| line.to_string()))
    }
}

/// "program: path/file:line: function: Assertion `x' failed.", as glibc writes it, without the
/// program, the path and the function.
fn assertion(line: &str) -> Option<String> {
    let what = &line[line.rfind("Assertion `")?..];
    let place = line.split(": ").nth(1)?;
    let place = place.rsplit('/').next().unwrap_or(place);
    Some(format!("{} at {place}", what.trim_end_matches('.')))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::core::history::{Entry, History};
    use crate::core::operation::{Op, Status};
    use crate::trace::area;
    use crate::trace::frame::When;
    use crate::trace::records::encode;

    fn source(function: &str, file: &str, line: u32) -> Source {
        Source {
            function: function.to_string(),
            file: file.into(),
            line,
            within: None,
            from: None,
            is_own: true,
            is_glue: false,
        }
    }

    #[test]
    fn a_failed_allocation_is_distinguished_from_a_failed_assertion() {
        let kind = |signal, output: &str| {
            Fault::new(FaultKind::Signal(signal), output.to_string(), 0).kind
        };
        let text = "terminate called after throwing an instance of 'std::bad_alloc'";
        assert_eq!(kind(libc::SIGABRT, text), FaultKind::OutOfMemory);
        assert_eq!(kind(libc::SIGKILL, ""), FaultKind::Killed);
        assert_eq!(kind(libc::SIGABRT, "Assertion failed"), FaultKind::Signal(libc::SIGABRT));
    }

    #[test]
    fn the_line_of_output_that_explains_the_fault_is_found() {
        let output = "hello\nx: /a/x.cpp:3: f(): Assertion `false' failed.\nAborted\n";
        let fault = Fault::new(FaultKind::Signal(libc::SIGABRT), output.to_string(), 0);
        assert_eq!(fault.message().as_deref(), Some("Assertion `false' failed at x.cpp:3"));
    }

    fn detected(kind: DetectedKind) -> Fault {
        let place = |thread, deed, code| {
            let who = Who { thread, when: When::InCall(3) };
            Place { who, deed, code, around: Vec::new() }
        };
        let steps = Steps {
            policy: "pos".to_string(),
            steps: 7,
            switches: 1,
            schedule: 1,
            atomics: 1,
            blocking: 0,
            pairs: Vec::new(),
            leaked_blocks: 0,
            leaked_bytes: 0,
            recorded: None,
            trail: None,
        };
        let places = vec![
            place(1, Deed::AccessedFreed { writes: false, address: 8, offset: 0 }, Some(0x5010)),
            place(0, Deed::HadFreed { block: 8 }, None),
        ];
        let detected = Detected { kind, round: 9, thread: Some(1), places, steps: Box::new(steps) };
        let mut fault = Fault::from_detected(detected, String::new());
        fault.stage = Stage::Calls;
        fault.threads = 2;
        fault
    }

    #[test]
    fn a_detected_fault_is_named_by_its_lines() {
        let mut fault = detected(DetectedKind::UseAfterFree);
        fault.places[0].location = Some(source("Stack::pop", "stack.hpp", 31));
        let site = fault.site().map(|site| site.to_string());
        assert_eq!(site.as_deref(), Some("Stack::pop at stack.hpp:31"));
        assert_eq!(fault.kind.name(), "use after free");
    }

    #[test]
    fn no_function_of_the_cxx_library_names_a_fault() {
        let of_library = Source { is_own: false, ..source("std::mutex::lock", "std_mutex.h", 3) };
        let mut fault = detected(DetectedKind::UseAfterFree);
        fault.places.iter_mut().for_each(|place| place.location = Some(of_library.clone()));
        assert_eq!(fault.site(), None);
        // What was done before the fault has its caller in some sightings only.
        fault.places.iter_mut().for_each(|place| place.caller = Some(source("Stack::pop", "x", 1)));
        assert_eq!(fault.site().map(|site| site.to_string()).as_deref(), Some("Stack::pop at x:1"));
    }

    #[test]
    fn a_livelock_is_named_by_the_functions_that_loop() {
        let mut fault = detected(DetectedKind::Livelock);
        fault.places[0].location = Some(source("Q::get", "x.h", 1));
        fault.places[1].location = Some(source("Q::enter", "x.h", 2));
        fault.places[1].loops = true;
        assert_eq!(fault.site().map(|site| site.to_string()).as_deref(), Some("Q::enter"));
    }

    #[test]
    fn a_livelock_is_named_by_functions_and_a_deadlock_by_lines() {
        for (kind, site) in
            [(DetectedKind::Livelock, "f, g"), (DetectedKind::Deadlock, "f at x.h:2, g at x.h:1")]
        {
            let mut fault = detected(kind);
            fault.places[0].location = Some(source("g", "x.h", 1));
            fault.places[1].location = Some(source("f", "x.h", 2));
            assert_eq!(fault.site().map(|site| site.to_string()).as_deref(), Some(site));
        }
    }

    /// A record area of three threads: the first one's records, then the second one's; the third
    /// has none. Lengths as given.
    fn area(records: [&[u8]; 2], lengths: [usize; 2]) -> File {
        let mut header = vec![0; area::HEADER_BYTES];
        let mut set = |word: usize, value: usize| {
            header[8 * word..][..8].copy_from_slice(&(value as u64).to_le_bytes());
        };
        set(area::WORD_MAGIC, area::MAGIC as usize);
        set(area::WORD_STAGE, Stage::Calls as usize);
        set(area::WORD_ROUND, 7);
        set(area::WORD_THREADS, 2);
        let mut offset = area::HEADER_BYTES;
        for thread in 0..2 {
            set(area::word_of_thread(thread), offset);
            set(area::word_of_thread(thread) + 1, lengths[thread]);
            offset += records[thread].len();
        }
        let mut file = tempfile::tempfile().expect("a temporary file");
        file.write_all(&[&header, records[0], records[1]].concat()).expect("it is written");
        file
    }

    fn fault_of(area: &File) -> Fault {
        let mut fault = Fault::new(FaultKind::Signal(libc::SIGABRT), String::new(), 0);
        fault.add_snapshot(
            area,
            &Snapshot::read(area).expect("a record area"),
            &Methods::default(),
        );
        assert_eq!((fault.stage, fault.round, fault.threads), (Stage::Calls, 7, 2));
        fault
    }

    #[test]
    fn overwritten_records_make_a_history_incomplete() {
        let mut history = History::default();
        let (op, status) = (Op::Enqueue, Status::Ok);
        for (start, value) in [(1, 40), (5, 41)] {
            let entry = Entry { op, status, start, end: start + 2, args: &[value], results: &[] };
            history.push(0, entry).expect("it follows");
        }
        let good = encode(&history, 0, &Methods::default());
        let len = good.len();
        let fault = fault_of(&area([&good, &good], [len, len]));
        assert!(fault.complete);
        assert_eq!(fault.history.len(), 4);

        let mut torn = good.clone();
        torn[len / 2..].fill(0xff);
        for (records, length) in [
            (&torn[..], len),
            // Cut off inside a record, longer than the file, longer than any memory.
            (&good[..], len - 1),
            (&good[..], len + 1),
            (&good[..], usize::MAX),
        ] {
            let fault = fault_of(&area([&good, records], [len, length]));
            assert!(!fault.complete, "{records:?}, {length}");
            assert!(fault.history.threads.iter().any(|kept| kept.operations().len() == 2));
        }
    }
}
