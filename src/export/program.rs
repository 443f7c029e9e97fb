//! The reproducer: a program in one file. A finding, what its threads are to do, the code of the
//! structure and the points chosen in it come in; C++, or C for an adapter in C, goes out. Does not
//! know whether it reproduces anything.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::calls::{self, Methods};
use super::script::{Script, Step};
use super::source::{Hook, Source};
use super::statements;
use crate::adapter::compile::Language;
use crate::core::history::OperationId;
use crate::core::operation::Op;
use crate::finding::{Stored, What};
use crate::process::fault::FaultKind;
use crate::trace::frame::DetectedKind;

/// Seconds without an end after which calls count as hanging, where that is what was found, and
/// where it was not.
const HANG_SECONDS: [u64; 2] = [8, 20];
/// Seconds after which a thread counts as waiting for what another one has, likewise: answers that
/// prove something need to be sure of it.
const WAIT_SECONDS: [u64; 2] = [1, 2];

/// What the program's own functions and variables are called.
const OWN_NAMES: &[&str] = &[
    "CALLS",
    "FINDING",
    "LAPS",
    "SECONDS",
    "STOPS",
    "THREADS",
    "VALUES",
    "after",
    "arrived",
    "at_the_end",
    "bodies",
    "call",
    "check",
    "crowd_changed",
    "crowd_lock",
    "current_turn",
    "dawdle",
    "destroy_structure",
    "dice",
    "differences",
    "done",
    "done_count",
    "end_of_time",
    "end_turn",
    "enter",
    "finished",
    "give_up",
    "hang_seconds",
    "hangs",
    "has_begun",
    "has_returned",
    "host",
    "ignore",
    "in_words",
    "is_over",
    "is_shown",
    "leave",
    "list_in_words",
    "look_again",
    "make_structure",
    "may_block",
    "meet",
    "meetings",
    "my_turn",
    "next_stop",
    "note",
    "note_count",
    "notes",
    "now",
    "numbers_of",
    "out_of_turn",
    "own_directory",
    "own_turn",
    "passes",
    "ready",
    "ready_count",
    "reset",
    "returned",
    "round_shows_it",
    "rounds",
    "said",
    "set_turn",
    "shows_it",
    "start",
    "stop_at",
    "stop_count",
    "stop_here",
    "stops",
    "structure",
    "target",
    "tell",
    "tell_note",
    "text_of",
    "text_of_key",
    "turn_changed",
    "turn_lock",
    "wait_for_crowd",
    "word_for",
];

/// How the structure is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binding {
    /// The methods of its class.
    Class,
    /// The functions of the contract in C, which the program then contains.
    Table,
}

/// Where a thread stops: a hook, and for the how-manieth time it is passed.
#[derive(Clone, Debug, PartialEq)]
pub struct Halt {
    pub hook: Hook,
    pub pass: usize,
}

/// What the finding shows itself by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// The same answers.
    Answers,
    /// The end of the process.
    Crash,
    /// Calls that never return.
    Hang,
}

impl Sign {
    pub fn of(what: &What) -> Sign {
        use DetectedKind::{Deadlock, Hang, Livelock};
        match what {
            What::Violation { .. } => Sign::Answers,
            What::Fault { kind: FaultKind::Hang, .. } => Sign::Hang,
            What::Fault { kind: FaultKind::Detected(Deadlock | Livelock | Hang), .. } => Sign::Hang,
            What::Fault { .. } => Sign::Crash,
        }
    }
}

/// All that a reproducer is made of.
pub struct Program<'a> {
    pub stored: &'a Stored,
    pub source: &'a Source,
    pub language: Language,
    pub binding: Binding,
    /// The contract's headers as one text, for a table.
    pub contract: &'a str,
    pub script: &'a Script,
    /// For each stop of the script.
    pub halts: &'a [Halt],
    /// The command that compiles it.
    pub command: &'a str,
    /// Whether freed memory is used again at once.
    pub reuses_memory: bool,
    /// What is wrong, in a line.
    pub title: &'a str,
}

impl Program<'_> {
    pub fn text(&self) -> String {
        let mut text = self.head();
        text += &self.includes();
        if !self.halts.is_empty() {
            text += &self.points();
        }
        if self.reuses_memory {
            text += include_str!("code/heap.cpp");
        }
        text += &self.structure();
        let own = [self.calls(), self.machinery(), self.threads()].concat();
        let rounds = match self.script.has_turns {
            true => include_str!("code/rounds.c"),
            false => include_str!("code/laps.c"),
        };
        text + &self.apart(&(own + rounds + include_str!("code/main.c")))
    }

    /// The program's own code, with other names where the structure's code has them, too.
    fn apart(&self, own: &str) -> String {
        let theirs = self.source.all();
        let clash = |name: &&str| statements::names(&theirs, name);
        let names: Vec<&str> = OWN_NAMES.iter().copied().filter(clash).collect();
        statements::renamed(own, &names, "rp_")
    }

    pub fn sign(&self) -> Sign {
        Sign::of(&self.stored.finding.what)
    }

    fn includes(&self) -> String {
        let c = "#include <pthread.h>\n#include <sched.h>\n#include <stdarg.h>\n\
                 #include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n\
                 #include <string.h>\n#include <time.h>\n#include <unistd.h>\n";
        let cpp = "#include <cstddef>\n#include <cstdint>\n#include <exception>\n#include <new>\n\
                   #include <string>\n#include <type_traits>\n#include <utility>\n\
                   #include <vector>\n";
        match self.language {
            Language::C => format!("#define _GNU_SOURCE\n{c}\n"),
            Language::Cpp => format!("{c}{cpp}\n"),
        }
    }

    /// The names of the points, and what a point does.
    fn points(&self) -> String {
        let mut text = "// ---- The points in the code below at which a call is left in the \
                        middle.\n\nenum {\n    NO_POINT"
            .to_string();
        for (name, line) in self.names() {
            write!(text, ",\n    {name} /* at {line} */").expect("writing to a string");
        }
        text += "\n};\nstatic void reproducer_point(int point) __attribute__((unused));\n\
                 #define REPRODUCER_POINT(name) reproducer_point(name)\n";
        let is_after = |halt: &Halt| {
            use statements::Place::{Argument, Update};
            matches!(halt.hook.place, Argument(..) | Update(..))
        };
        text += match (self.halts.iter().any(is_after), self.language) {
            (false, _) if self.halts.iter().all(|halt| self.is_own(halt)) => "",
            (_, Language::C) => AFTER_IN_C,
            (_, Language::Cpp) => AFTER,
        };
        text + "\n"
    }

    fn is_own(&self, halt: &Halt) -> bool {
        self.source.text(&halt.hook.file).is_some()
    }

    fn names(&self) -> BTreeSet<(String, String)> {
        let name = |halt: &Halt| (halt.hook.name.clone(), halt.hook.line(self.source).0);
        self.halts.iter().map(name).collect()
    }

    fn structure(&self) -> String {
        let hooks: Vec<Hook> = self.halts.iter().map(|halt| halt.hook.clone()).collect();
        let mut unique: Vec<Hook> = Vec::new();
        hooks.into_iter().for_each(|hook| {
            if !unique.contains(&hook) {
                unique.push(hook);
            }
        });
        let code = self.source.joined(&unique);
        let contract = match self.binding {
            Binding::Class => stand_in(&self.source.all()),
            Binding::Table => format!(
                "// ---- What the structure's code needs of interlap, the tool it was found \
                 with.\n\n{}\n",
                self.contract
            ),
        };
        format!(
            "{contract}// ==== The code under test, as it was fuzzed.\n\n{code}\n\
             // ==== Its end.\n\n"
        )
    }

    /// The operations that are called.
    fn ops(&self) -> Vec<Op> {
        let ops: BTreeSet<Op> = self.stored.round.history.ids().map(|id| self.op(id)).collect();
        ops.into_iter().collect()
    }

    fn calls(&self) -> String {
        match self.binding {
            Binding::Table => {
                let most = self.most_values().max(64);
                format!(
                    "enum {{ VALUES = {most} }}; // most values of a call\n\
                     enum {{ THREADS = {} }};\n",
                    self.threads_count()
                ) + include_str!("code/directory.c")
                    + &calls::words_by_status(&self.ops())
                    + include_str!("code/table.c")
            }
            Binding::Class => {
                let all = self.source.all();
                let methods = Methods { text: &all };
                let wants = all.contains("interlap::config") || all.contains("config &");
                let (config, directory) = match wants {
                    true => (CONFIG, include_str!("code/directory.c")),
                    false => ("", ""),
                };
                let code = include_str!("code/class.cpp").replace("/* config */", config);
                format!("enum {{ THREADS = {} }};\n", self.threads_count())
                    + directory
                    + &code
                    + &calls::functions(&self.ops(), &methods)
                    + "\n"
            }
        }
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

    /// What does not depend on the finding, but for some numbers.
    fn machinery(&self) -> String {
        let sign = self.sign();
        let mut text = format!(
            "enum {{\n    CALLS = {}, // of all threads\n    WANTS_ANSWERS = {},\n    \
             TELL_AT_ONCE = {},\n    STOPS = {}, // of a call, at most\n    \
             SECONDS_THAT_ARE_A_WAIT = {} // for what another thread has\n}};\n\
             static const double SECONDS = {}; // how long to try, if not told\n\
             static int hang_seconds = {}; // without an end, after which calls count as hanging\n\
             static const char FINDING[] = {};\n",
            self.stored.round.history.len(),
            u8::from(sign == Sign::Answers),
            u8::from(sign != Sign::Answers && self.script.has_turns),
            self.script.stops_of_a_call(),
            WAIT_SECONDS[usize::from(sign != Sign::Hang)],
            if self.script.has_turns { 10 } else { 60 },
            HANG_SECONDS[usize::from(sign != Sign::Hang)],
            calls::literal(self.title),
        );
        text += "static void has_returned(int thread);\n\n";
        text += include_str!("code/common.c");
        let mut own_state = "differences = out_of_turn = note_count = 0;".to_string();
        if self.script.has_turns {
            text += include_str!("code/threads.c");
            text += &self.turns_code();
            text += match self.halts.is_empty() {
                true => "static void has_returned(int thread) { (void)thread; }\n\n",
                false => include_str!("code/points.c"),
            };
            own_state += "\n    ready_count = done_count = has_begun = current_turn = 0;";
        } else {
            text += include_str!("code/free.c");
        }
        let (hang, status) = match sign {
            Sign::Hang => ("REPRODUCED: calls do not return", 1),
            _ => ("calls do not return, which is not what was found", 3),
        };
        write!(
            text,
            "static void hangs(void) {{\n    {}puts({});\n    fflush(stdout);\n    \
             _exit({status});\n}}\nstatic void reset(void) {{\n    {own_state}\n    \
             memset(returned, 0, sizeof returned);\n}}\n\n",
            if sign != Sign::Answers && self.script.has_turns { "" } else { "tell();\n    " },
            calls::literal(hang),
        )
        .expect("writing to a string");
        text
    }

    fn turns_code(&self) -> String {
        let turns = self.script.blocked.iter().map(|turn| format!("{turn}, "));
        let turns: String = turns.collect();
        include_str!("code/turns.c").replace("/* turns */", &turns)
    }

    /// A function for each thread, and one for what is called at the end.
    fn threads(&self) -> String {
        let mut text = "// ==== What the threads do: check(thread, call, its answer, the answer \
                        that was found).\n\n"
            .to_string();
        let count = self.threads_count();
        for (thread, steps) in (0..count).zip(&self.script.threads) {
            writeln!(text, "static void thread_{thread}(void) {{").expect("writing to a string");
            text += &self.enter(thread);
            text += "    ready();\n";
            for step in steps {
                text += &self.step(thread, step);
            }
            text += "    done();\n";
            text += &self.leave();
            text += "}\n\n";
        }
        text +=
            "// When all threads are done: what is left inside.\nstatic void at_the_end(void) {\n";
        let history = &self.stored.round.history;
        let drained: Vec<OperationId> = history
            .ids()
            .filter(|id| history.threads[id.thread as usize].client >= count)
            .collect();
        if !drained.is_empty() {
            text += &self.enter(count);
            for id in drained {
                text += &self.step(count, &Step::Call(id));
            }
            text += &self.leave();
        }
        let bodies: Vec<String> = (0..count).map(|thread| format!("thread_{thread}")).collect();
        text += "}\n\n";
        text + &format!("static void (*const bodies[])(void) = {{{}}};\n\n", bodies.join(", "))
    }

    fn enter(&self, thread: u32) -> String {
        match self.binding {
            Binding::Table => format!("    void *local = enter({thread});\n"),
            Binding::Class if Methods { text: &self.source.all() }.has_local() => {
                format!("    Tested::Local local(*structure, {thread});\n")
            }
            Binding::Class => String::new(),
        }
    }

    fn leave(&self) -> String {
        match self.binding {
            Binding::Table => "    leave(local);\n".to_string(),
            Binding::Class => String::new(),
        }
    }

    fn step(&self, thread: u32, step: &Step) -> String {
        let history = &self.stored.round.history;
        match step {
            Step::Turn(turn) => format!("    my_turn({turn});\n"),
            Step::EndTurn => "    end_turn();\n".to_string(),
            Step::After { thread, calls } => format!("    after({thread}, {calls});\n"),
            Step::Stop { stop, back } => {
                let Halt { hook, pass } = &self.halts[*stop];
                format!("    stop_at({}, {pass}, {back});\n", hook.name)
            }
            Step::Call(id) => {
                let called = match self.binding {
                    Binding::Class => {
                        calls::of_class(history, *id, &Methods { text: &self.source.all() })
                    }
                    Binding::Table => calls::of_table(history, *id, thread),
                };
                let words = calls::literal(&calls::call(history, *id));
                let answer = calls::answer(history, *id);
                let answer = answer.unwrap_or_else(|| "(does not return)".to_string());
                let dawdle = match self.script.has_turns || thread == self.threads_count() {
                    true => String::new(),
                    false => format!("    dawdle({thread});\n"),
                };
                let answer = calls::literal(&answer);
                format!("{dawdle}    check({thread}, {words}, {called}, {answer});\n")
            }
        }
    }
}

/// What a class's constructor is told.
const CONFIG: &str = "interlap::config{own_directory(), 1, THREADS, 0}";

/// A point behind an expression.
const AFTER: &str = "\
// The same behind an expression: its value is known, and passed on later.
template <class Value> Value reproducer_after(int point, Value value) {
    reproducer_point(point);
    return value;
}
#define REPRODUCER_AFTER(name, ...) reproducer_after(name, __VA_ARGS__)
";
const AFTER_IN_C: &str = "\
// The same behind an expression: its value is known, and passed on later.
#define REPRODUCER_AFTER(name, ...) \\
    ({ __typeof__(__VA_ARGS__) value_ = (__VA_ARGS__); reproducer_point(name); value_; })
";

/// What the code uses of interlap.hpp.
fn stand_in(code: &str) -> String {
    let mut text =
        "// ---- What the code under test uses of interlap, the tool it was found with.\n\n"
            .to_string();
    let mut inner = String::new();
    if code.contains("config") {
        inner += "struct config {\n    const char *directory;\n    uint64_t seed;\n    \
                  uint32_t threads, round;\n};\n";
    }
    if code.contains("interlap::status") {
        inner += "enum class status { ok, empty, full, failed, unknown, unsupported };\n";
    }
    for name in ["box_open", "box_close"] {
        if code.contains(name) {
            writeln!(inner, "inline void {name}() {{}}").expect("writing to a string");
        }
    }
    if code.contains("interlap::fail") {
        inner += "[[noreturn]] inline void fail(const config &, const std::string &why) {\n    \
                  fprintf(stderr, \"the structure cannot be made: %s\\n\", why.c_str());\n    \
                  exit(2);\n}\n";
    }
    if !inner.is_empty() {
        write!(text, "namespace interlap {{\n{inner}}} // namespace interlap\n")
            .expect("writing to a string");
    }
    text + "#define INTERLAP_TARGET(Class) using Tested = Class; // the class that is called\n\n"
}
