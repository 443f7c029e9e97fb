//! What a reproducer does, in words: a program comes in; its head, and who calls what when, go out.
//! Writes no code.

use std::fmt::Write;

use super::calls;
use super::program::{Program, Sign};
use super::script::Step;
use crate::adapter::compile::Language;
use crate::finding::What;
use crate::report::words;

impl Program<'_> {
    pub(super) fn head(&self) -> String {
        let mut text = format!("// {}\n//\n", self.title);
        for line in wrapped(&self.story(), 95) {
            writeln!(text, "// {line}").expect("writing to a string");
        }
        text += "//\n// The threads:\n";
        for line in self.outline() {
            text += format!("//   {line}").trim_end();
            text.push('\n');
        }
        let name = if self.language == Language::C { "reproducer.c" } else { "reproducer.cpp" };
        write!(
            text,
            "//\n// Compile and run it where {name} lies:\n//\n//   {}\n//   ./reproducer\n//\n\
             // `./reproducer 30` tries for 30 seconds. README.md says more; report.md is about \
             the bug.\n\n",
            self.command
        )
        .expect("writing to a string");
        text
    }

    fn story(&self) -> String {
        let shows = match self.sign() {
            Sign::Answers => "answers what no order of the calls explains",
            Sign::Crash => "ends the process",
            Sign::Hang => "does not return from its calls",
        };
        let way = match (self.script.has_turns, self.halts.is_empty()) {
            (true, true) => "The order of the calls is forced: one after the other, in turns.",
            (true, false) => {
                "The order is forced: threads run in turns, and a call is left in the middle at a \
                 REPRODUCER_POINT, while others go on."
            }
            (false, _) => "Threads run at once, again and again, until it happens.",
        };
        let explanation = match &self.stored.finding.what {
            What::Violation { explanation, .. } => explanation.clone(),
            what @ What::Fault { .. } => words::fault(what),
        };
        format!("This program calls a structure that {shows}. {explanation} {way}")
    }

    /// What each thread calls, or the turns, a line each.
    pub fn outline(&self) -> Vec<String> {
        if !self.script.has_turns {
            let line = |(thread, steps): (usize, &Vec<Step>)| {
                let calls: Vec<String> =
                    steps.iter().filter_map(|step| self.called(step)).collect();
                format!("thread {thread}: {}", calls.join(", "))
            };
            return self.script.threads.iter().enumerate().map(line).collect();
        }
        let mut turns: Vec<(usize, String)> = Vec::new();
        for (thread, steps) in self.script.threads.iter().enumerate() {
            turns.extend(self.turns(thread, steps));
        }
        turns.sort();
        turns.into_iter().map(|(turn, words)| format!("turn {turn}, {words}")).collect()
    }

    fn turns(&self, thread: usize, steps: &[Step]) -> Vec<(usize, String)> {
        let mut turns: Vec<(usize, Vec<String>)> = Vec::new();
        let mut stops = Vec::new();
        for step in steps {
            match step {
                Step::Turn(turn) => turns.push((*turn, Vec::new())),
                Step::Stop { stop, back } => stops.push((*stop, *back)),
                Step::Call(_) => {
                    let call = self.called(step).unwrap_or_default();
                    let mut verb = "";
                    for (stop, back) in stops.drain(..) {
                        let name = &self.halts[stop].hook.name;
                        let words = format!("{verb}{call} as far as {name}");
                        turns.last_mut().expect("a turn comes first").1.push(words);
                        turns.push((back, Vec::new()));
                        verb = "goes on with ";
                    }
                    let words = format!("{verb}{call}");
                    turns.last_mut().expect("a turn comes first").1.push(words);
                }
                Step::EndTurn | Step::After { .. } => {}
            }
        }
        let words = |calls: Vec<String>| format!("thread {thread}: {}", calls.join(", "));
        turns.into_iter().map(|(turn, calls)| (turn, words(calls))).collect()
    }

    fn called(&self, step: &Step) -> Option<String> {
        let Step::Call(id) = step else { return None };
        let history = &self.stored.round.history;
        let call = calls::call(history, *id);
        Some(match calls::answer(history, *id) {
            Some(answer) => format!("{call} -> {answer}"),
            None => call,
        })
    }
}

/// The paragraph in lines of so many columns.
pub fn wrapped(paragraph: &str, columns: usize) -> Vec<String> {
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
