//! Writes the reproducer: a program in C that calls the structure as the finding did.
//! `super::trial` finds out whether it reproduces the finding.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::turns::{Point, Turn};
use super::{Runtime, calls};
use crate::core::columns;
use crate::core::history::OperationId;
use crate::core::method::Methods;
use crate::core::operation::Op;
use crate::finding::interleaving::{Interleaving, Place, RowKind};
use crate::finding::{Failure, Stored};
use crate::process::fault::FaultKind;
use crate::report::explanation;
use crate::trace::frame::DetectedKind;

/// Seconds after which calls count as hanging, if the finding is a hang, and if it is not.
const HANG_SECONDS: [u64; 2] = [8, 20];

/// So often a thread makes its calls, each time with a new structure, where the order is left to
/// chance. In some code it matters that threads are new, and to start one takes longer than all
/// that it does.
const LAPS: u32 = 1_000;

/// The symptom by which a run shows the finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symptom {
    /// The same answers.
    Answers,
    /// The end of the process.
    Crash,
    /// Calls that never return.
    Hang,
    /// A report of ThreadSanitizer.
    Race,
}

impl Symptom {
    pub fn from_failure(failure: &Failure) -> Symptom {
        use DetectedKind::{DataRace, Deadlock, Hang, Livelock};
        match failure {
            Failure::Violation { .. } => Symptom::Answers,
            Failure::Fault { kind: FaultKind::Hang, .. } => Symptom::Hang,
            Failure::Fault { kind: FaultKind::Detected(Deadlock | Livelock | Hang), .. } => {
                Symptom::Hang
            }
            Failure::Fault { kind: FaultKind::Detected(DataRace), .. } => Symptom::Race,
            Failure::Fault { .. } => Symptom::Crash,
        }
    }
}

/// The contents of a reproducer.
pub struct Program<'a> {
    pub stored: &'a Stored,
    /// None if all threads run at once.
    pub runtime: &'a Runtime,
    pub table: Option<&'a Interleaving>,
    /// The command that compiles it.
    pub command: &'a str,
    /// The failure in a line.
    pub title: &'a str,
}

impl Program<'_> {
    pub fn text(&self) -> String {
        let mut text = self.head();
        text += INCLUDES;
        text += &self.constants();
        text += include_str!("code/directory.c");
        text += &calls::words_by_status(&self.ops(), &self.methods());
        text += include_str!("code/table.c");
        text += "static void has_returned(int thread);\n\n";
        text += include_str!("code/common.c");
        text += &self.order();
        text += &self.threads();
        text += match self.runtime.schedule() {
            Some(_) => include_str!("code/once.c"),
            None => include_str!("code/laps.c"),
        };
        text += &self.race();
        if self.runtime.schedule().is_none() && !self.stored.uninitialised().is_empty() {
            text += include_str!("code/filling.c");
        }
        text
    }

    fn methods(&self) -> Methods {
        Methods::among(self.stored.hello.target.operations.iter().copied())
    }

    pub fn symptom(&self) -> Symptom {
        Symptom::from_failure(&self.stored.finding.what)
    }

    fn head(&self) -> String {
        let shows = match self.symptom() {
            Symptom::Answers => "answers what no order of the calls explains",
            Symptom::Crash => "ends the process, or uses memory wrongly",
            Symptom::Hang => "does not return from its calls",
            Symptom::Race => "has a data race",
        };
        let way = match self.runtime.schedule() {
            Some(_) => {
                "One thread at a time runs, in the order that `turns` below lists; schedule.c sees \
                 to that."
            }
            None => "Threads run at once, again and again, until it happens.",
        };
        let explanation = explanation::of_finding(self.stored);
        let introduction =
            format!("This program calls a structure that {shows}. {explanation} {way}");
        let mut text = format!("// {}\n//\n", self.title);
        for line in wrapped(&introduction, 95) {
            text += &format!("// {line}\n");
        }
        text += "//\n// Compile and run it where it lies:\n//\n";
        text += &format!("//   {}\n//   ./reproducer\n//\n", self.command);
        text + "// README.md says more; report.md is about the bug.\n\n"
    }

    /// Constants that depend on the finding.
    fn constants(&self) -> String {
        let symptom = self.symptom();
        let is_scheduled = self.runtime.schedule().is_some();
        format!(
            "enum {{\n    THREADS = {},\n    LAPS = {}, // of a thread\n    \
             CALLS = {}, // of all threads\n    \
             VALUES = {}, // most values of a call\n    WANTS_ANSWERS = {},\n    \
             TELL_AT_ONCE = {}\n}};\n\
             static int hang_seconds = {}; // without an end, after which calls count as hanging\n\
             static const char FINDING[] = {};\nstatic const char HANGS[] = {};\n\
             static const int status_of_hang = {};\n\n",
            self.threads_count(),
            // That threads meet between laps, ThreadSanitizer does not see.
            if symptom == Symptom::Race { 1 } else { LAPS },
            self.stored.round.history.len(),
            self.most_values().max(64),
            u8::from(symptom == Symptom::Answers),
            u8::from(symptom != Symptom::Answers && is_scheduled),
            HANG_SECONDS[usize::from(symptom != Symptom::Hang)],
            calls::literal(self.title),
            calls::literal(match symptom {
                Symptom::Hang => "REPRODUCED: calls do not return",
                _ => "calls do not return, which is not what was found",
            }),
            if symptom == Symptom::Hang { 1 } else { 3 },
        )
    }

    /// The code that orders the threads.
    fn order(&self) -> String {
        let schedule = match self.runtime {
            Runtime::Schedule(schedule) => schedule,
            Runtime::Free => return include_str!("code/free.c").to_string(),
            Runtime::FreeHooks => {
                return format!("#include \"hooks.c\"\n\n{}", include_str!("code/free.c"));
            }
        };
        let mut text = "// The order: each turn goes on until the thread is about to do that, in \
                        that call.\n// {thread, call, what, size, for the how-manieth time}\n\
                        #include \"schedule.c\"\nstatic const struct turn turns[] = {\n"
            .to_string();
        let turns: Vec<_> = schedule.turns.iter().map(|turn| self.turn(turn)).collect();
        text += &columns::table(&turns, 0..0, "    ");
        text += "    {-1, 0, DONE, 0, 0},\n};\n\
                 // Stores that stay in a store buffer: {thread, call, size, which one}.\n\
                 static const struct held held[] = {\n";
        for Turn { thread, call, size, count, .. } in &schedule.held {
            text += &format!("    {{{thread}, {call}, {size}, {count}}},\n");
        }
        text += "    {-1, 0, 0, 0},\n};\n";
        text += &self.older(&schedule.older);
        text + &format!(
            "static const int turn_count = {}, held_count = {}, older_count = {};\n\
             static const int reuses_memory = {}; // whether malloc hands freed memory out again\n\
             static const char *const wrong_use = \"{}\"; // of memory, that was found\n\n",
            schedule.turns.len(),
            schedule.held.len(),
            schedule.older.len(),
            u8::from(schedule.reuses_memory),
            wrong_use(&self.stored.finding.what),
        )
    }

    /// The accesses that do not meet the newest store, as code.
    fn older(&self, accesses: &[(Turn, u32)]) -> String {
        let row = |(turn, newer): &(Turn, u32)| {
            let Turn { thread, call, point, size, count, step } = *turn;
            let row = format!("{{{thread}, {call}, {}, {size}, {count}, {newer}}},", point.name());
            let place = step.and_then(|step| self.place(thread, step));
            [row, place.map_or_else(String::new, |place| format!("// {place}"))]
        };
        let rows: Vec<[String; 2]> = accesses.iter().map(row).collect();
        let table = columns::table(&rows, 0..0, "    ");
        format!(
            "// Accesses that do not meet the newest store: {{thread, call, what, size, which one, \
             so many\n// stores are newer}}. 0: a compare-exchange fails for no reason, as a weak \
             one may.\n\
             static const struct older older[] = {{\n{table}    {{-1, 0, DONE, 0, 0, 0}},\n}};\n"
        )
    }

    /// The turn as code, and a comment.
    fn turn(&self, turn: &Turn) -> [String; 2] {
        let Turn { thread, call, point, size, count, .. } = *turn;
        let row = format!("{{{thread}, {call}, {}, {size}, {count}}},", point.name());
        let place = turn.step.and_then(|step| self.place(thread, step));
        let words = match (point, place) {
            (Point::Call, _) => format!("until it calls {}", self.call_words(thread, call)),
            (Point::Done, _) => "to its end".to_string(),
            (Point::Drain, _) => "its stores reach memory".to_string(),
            (_, Some(place)) => format!("until {place} in {}", self.call_words(thread, call)),
            (_, None) => format!("in {}", self.call_words(thread, call)),
        };
        [row, format!("// thread {thread}: {words}")]
    }

    /// "stack.hpp:31": the line of the thread at this step.
    fn place(&self, thread: u32, step: u64) -> Option<String> {
        let rows = self.table?.rows.iter().filter(|row| (row.thread, row.step) == (thread, step));
        rows.into_iter().find_map(|row| match &row.what {
            RowKind::Act { place: Some(place), .. } => {
                let file = place.in_library().file.file_name()?.to_string_lossy().into_owned();
                Some(format!("{file}:{}", place.in_library().line))
            }
            _ => None,
        })
    }

    fn call_words(&self, thread: u32, call: u32) -> String {
        let history = &self.stored.round.history;
        let ids = history.program_order(thread);
        let id = call.checked_sub(1).and_then(|index| ids.get(index as usize));
        id.map_or_else(|| "no call".to_string(), |id| calls::call(history, *id))
    }

    /// The code that knows a race again.
    fn race(&self) -> String {
        let (Symptom::Race, Failure::Fault { places, .. }) =
            (self.symptom(), &self.stored.finding.what)
        else {
            return String::new();
        };
        // "": any line.
        let line = |which: usize| {
            let line = places.get(which)?.line.as_ref().map(Place::in_library)?;
            Some(format!("{}:{}", line.file.file_name()?.to_string_lossy(), line.line))
        };
        let [one, other] = [0, 1].map(|which| calls::literal(&line(which).unwrap_or_default()));
        let code = include_str!("code/race.c");
        format!("\nstatic const char *const racing[2] = {{{one}, {other}}};\n{code}")
    }

    /// The operations of the history, each once.
    fn ops(&self) -> Vec<Op> {
        let ops: BTreeSet<Op> = self.stored.round.history.ids().map(|id| self.op(id)).collect();
        ops.into_iter().collect()
    }

    fn op(&self, id: OperationId) -> Op {
        self.stored.round.history.operation(id).op
    }

    fn most_values(&self) -> usize {
        let history = &self.stored.round.history;
        let of = |id| {
            let asked = history.args(id).first().copied().unwrap_or(0).clamp(0, 4096) as usize;
            let asked = if self.op(id) == Op::DequeueBulk { asked } else { 0 };
            asked.max(history.args(id).len()).max(history.results(id).len())
        };
        history.ids().map(of).max().unwrap_or(0)
    }

    fn threads_count(&self) -> u32 {
        self.stored.round.start.threads
    }

    /// A function for each thread, and one for the drain.
    fn threads(&self) -> String {
        let mut text = "// ==== What the threads do: check(thread, call, its answer, the answer \
                        that was found).\n\n"
            .to_string();
        let count = self.threads_count();
        for thread in 0..count {
            text += &format!(
                "static void thread_{thread}(void) {{\n    ready({thread});\n    \
                 void *local = enter({thread});\n"
            );
            text += &self.calls_of(thread);
            text += "    leave(local);\n    done();\n}\n\n";
        }
        text +=
            "// When all threads are done: what is left inside.\nstatic void at_the_end(void) {\n";
        let drained = self.calls_of(count);
        if !drained.is_empty() {
            text += &format!("    void *local = enter({count});\n{drained}    leave(local);\n");
        }
        let bodies: Vec<String> = (0..count).map(|thread| format!("thread_{thread}")).collect();
        text += "}\n\n";
        text + &format!("static void (*const bodies[])(void) = {{{}}};\n\n", bodies.join(", "))
    }

    /// A thread's calls. Each waits for those that had returned before it in the finding.
    fn calls_of(&self, client: u32) -> String {
        let (history, count) = (&self.stored.round.history, self.threads_count());
        let others = (0..count).filter(|other| *other != client && client < count);
        let mut waited: Vec<_> =
            others.map(|other| (other, history.program_order(other), 0)).collect();
        let (mut text, methods) = (String::new(), self.methods());
        for (number, id) in (1..).zip(history.program_order(client)) {
            let start = history.operation(id).start;
            if client < count {
                text += &format!("    next_call({number});\n");
            }
            for (other, calls, waited) in &mut waited {
                let has_returned = |id: &&OperationId| history.operation(**id).end < start;
                let returned = calls.iter().filter(has_returned).count();
                if returned > *waited {
                    *waited = returned;
                    text += &format!("    after({other}, {returned});\n");
                }
            }
            let words = calls::literal(&calls::call(history, id));
            let answer = calls::answer(history, id);
            let answer = answer.unwrap_or_else(|| "(does not return)".to_string());
            let (called, answer) =
                (calls::contract_call(history, &methods, id, client), calls::literal(&answer));
            writeln!(text, "    check({client}, {words}, {called}, {answer});")
                .expect("writing to a string");
        }
        text
    }
}

/// The name that `schedule.c` has for a misuse of memory.
fn wrong_use(failure: &Failure) -> &'static str {
    match failure {
        Failure::Fault { kind: FaultKind::Detected(kind), .. } => match kind {
            DetectedKind::UseAfterFree => "use-after-free",
            DetectedKind::DoubleFree => "double-free",
            DetectedKind::BadFree => "bad-free",
            DetectedKind::OutOfBounds => "out-of-bounds",
            DetectedKind::Deadlock
            | DetectedKind::Livelock
            | DetectedKind::Hang
            | DetectedKind::DataRace => "",
        },
        _ => "",
    }
}

const INCLUDES: &str = "\
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <interlap.h> // how the adapter is called

";

/// Wraps a paragraph into lines of at most `columns`.
fn wrapped(paragraph: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in paragraph.split_whitespace() {
        let last = lines.last_mut().expect("never empty");
        if !last.is_empty() && last.chars().count() + 1 + word.chars().count() > columns {
            lines.push(word.to_string());
        } else {
            if !last.is_empty() {
                last.push(' ');
            }
            last.push_str(word);
        }
    }
    lines
}
