//! Writes the gdb script of a finding. It uses commands of gdb only, no Python. What does not
//! depend on the finding is in `operations.gdb` and `controlled.gdb`.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::core::plan::quoted;

const OPERATIONS: &str = include_str!("operations.gdb");
const CONTROLLED: &str = include_str!("controlled.gdb");

/// The contents of a script.
pub struct Script {
    /// Name and signature of the finding, for the script's first line.
    pub title: String,
    pub program: Program,
    /// By start, at most 26, because each has a letter.
    pub operations: Vec<Operation>,
}

/// How the finding's round is run.
pub enum Program {
    /// A harness runs the job's round with the controlled engine. `ends`: the target ends the
    /// process itself, so the script stops it before that.
    Controlled { harness: PathBuf, job: PathBuf, ends: bool },
    /// rr replays a recording, and starts and connects gdb. `hang`: of a hang, the last event at
    /// which every thread was there.
    Recording { hang: Option<u64> },
}

/// An operation at which gdb can stop.
pub struct Operation {
    /// The stamp that opened its timebox, which no other call of the run has.
    pub start: u64,
    /// Its line in the legend: letter, thread, call, answer, times.
    pub words: String,
    /// The name of the operation, which the adapter's method mostly has.
    pub method: &'static str,
    /// An event of the recording shortly before it.
    pub event: Option<u64>,
}

impl Script {
    pub fn text(&self) -> String {
        let mut text = format!("# gdb commands for {}.\n", one_line(&self.title));
        text +=
            "# `help interlap-op` and the like say what they do; `help user-defined` lists them.\n";
        text += &self.head();
        text += &self.table();
        text += OPERATIONS;
        text += match self.program {
            Program::Controlled { .. } => CONTROLLED,
            Program::Recording { .. } => RECORDING,
        };
        if matches!(self.program, Program::Controlled { ends: true, .. }) {
            text += ENDS;
        }
        if let Program::Recording { hang: Some(event) } = self.program {
            text += &hang(event);
        }
        text
    }

    /// The program to debug.
    fn head(&self) -> String {
        let Program::Controlled { harness, job, .. } = &self.program else {
            return String::new();
        };
        let job = quoted(&job.display().to_string());
        format!(
            "# Written anew, for where everything lies then, by `interlap replay --gdb`.\n\
             file {}\nset args --debug {job}\n",
            word(harness),
        )
    }

    /// Stops at the method of the operation at which the program is.
    fn methods(&self) -> String {
        let mut text = "\ndefine interlap--method\n".to_string();
        for (k, Operation { method, .. }) in (1..).zip(&self.operations) {
            let stop = format!("break {method} if $_thread == $il_thread");
            let stop = format!("with breakpoint pending off -- with language c++ -- {stop}");
            line(&mut text, format_args!("  if $il_at == {k}\n    {stop}\n  end"));
        }
        text + "end\ndocument interlap--method\n(Part of other commands.)\nend\n"
    }

    /// The operations, as variables and commands.
    fn table(&self) -> String {
        let mut text = format!("\nset $il_count = {}\n", self.operations.len());
        text += "set $il_at = 0\nset $il_k = 0\n";
        text += "set $il_start = 0\n";
        text += "\n# What the marker of operation $il_k is called with.\ndefine interlap--select\n";
        for (k, operation) in (1..).zip(&self.operations) {
            let Operation { start, event, .. } = operation;
            line(&mut text, format_args!("  if $il_k == {k}\n    set $il_start = {start}"));
            if matches!(self.program, Program::Recording { .. }) {
                // With numbers instead of variables, rr evaluates the condition itself.
                let event = event.map_or(String::new(), |event| format!(" {event}"));
                line(&mut text, format_args!("    with confirm off -- run{event}"));
                let stop = format!("tbreak *interlap_op_begin if $rdx == {start}");
                line(&mut text, format_args!("    with language c -- {stop}"));
            }
            text += "  end\n";
        }
        text += "end\ndocument interlap--select\n(Part of other commands.)\nend\n";
        if matches!(self.program, Program::Recording { .. }) {
            text += &self.methods();
        }
        text += "\ndefine interlap--tell\n";
        for (k, operation) in (1..).zip(&self.operations) {
            let words = literal(&operation.words);
            line(&mut text, format_args!("  if $arg0 == {k}\n    printf \"{words}\\n\"\n  end"));
        }
        text += "end\ndocument interlap--tell\n(Part of other commands.)\nend\n";
        text
    }
}

/// For a recording: `interlap--select` goes back to before the operation.
const RECORDING: &str = "
# In Rust's, gdb does not find the names below.
set language c++

define interlap--go
  interlap--select
  continue
  interlap--reach $il_k
  interlap--enter
end
document interlap--go
(Part of interlap-op and interlap-next.)
end

define interlap--reach
  if $_thread != 0
    set $il_at = $arg0
    interlap--tell $arg0
  end
end
document interlap--reach
(Part of other commands: the program is at this operation.)
end

# From where an operation begins into the target's code: what calls the adapter's method, then that,
# if there is one of this name.
define interlap--enter
  if $_thread != 0
    set $il_thread = $_thread
    with language c++ -- set $il_call = *(unsigned long *)&interlap_call
    with language c++ -- tbreak *$il_call if $_thread == $il_thread
    continue
    interlap--method
    set $il_method = $bpnum
    with language c -- break *interlap_op_end if $_thread == $il_thread
    set $il_end = $bpnum
    continue
    delete breakpoints $il_method $il_end
    if $_thread != 0 && $pc == (unsigned long)&interlap_op_end
      printf \"The operation has ended: it did not call a method of its name.\\n\"
    end
  end
end
document interlap--enter
(Part of other commands.)
end
";

/// For the recording of a hang: the moment before it was ended, after this event.
fn hang(event: u64) -> String {
    format!(
        "
define interlap-fault
  with confirm off -- run {event}
  thread apply all backtrace
end
document interlap-fault
Go to where the threads hang, before the process was ended, and show the stack of each.
end
"
    )
}

/// For targets that end the process.
const ENDS: &str = "
# The target ends the process: stop before that.
set breakpoint pending on
break _exit
set breakpoint pending auto
";

fn line(text: &mut String, words: std::fmt::Arguments) {
    writeln!(text, "{words}").expect("writing to a string");
}

/// A path as a word of a gdb command.
fn word(path: &Path) -> String {
    let path = path.display().to_string();
    format!("\"{}\"", path.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Text inside a format of printf.
fn literal(text: &str) -> String {
    one_line(text).replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%")
}

fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operation(start: u64, event: Option<u64>) -> Operation {
        let words = "A  thread 1   get(\"50 %\\n\") -> ok".to_string();
        Operation { start, words, method: "get", event }
    }

    fn script(program: Program, event: Option<u64>) -> String {
        let operations = vec![operation(7, event), operation(u64::MAX - 1, event)];
        Script { title: "a-1\nb".to_string(), program, operations }.text()
    }

    fn controlled(ends: bool) -> String {
        let job = PathBuf::from("/it's here/debug.json");
        script(Program::Controlled { harness: "/a \"b\"/h".into(), job, ends }, None)
    }

    #[test]
    fn names_of_files_and_words_of_operations_are_quoted() {
        let text = controlled(false);
        for part in [
            "# gdb commands for a-1 b.\n",
            "file \"/a \\\"b\\\"/h\"\n",
            "set args --debug '/it'\\''s here/debug.json'\n",
            "printf \"A  thread 1   get(\\\"50 %%\\\\n\\\") -> ok\\n\"\n",
            "set $il_start = 18446744073709551614\n",
            "set $il_count = 2\n",
        ] {
            assert!(text.contains(part), "no {part:?} in {text}");
        }
        assert!(!text.contains("break _exit") && controlled(true).contains("break _exit"));
    }

    #[test]
    fn in_a_recording_gdb_goes_back() {
        let text = script(Program::Recording { hang: Some(2700) }, Some(2650));
        assert!(text.contains("-- run 2700\n  thread apply all backtrace"), "{text}");
        assert!(text.contains("-- run 2650\n") && !text.contains("file "), "{text}");
        assert!(text.contains("define interlap-next") && !text.contains("define interlap-step"));
    }

    /// Neither `python` nor the convenience functions that are written in it.
    #[test]
    fn the_script_needs_no_python() {
        let both = controlled(true) + &script(Program::Recording { hang: None }, None);
        for word in ["python", "$_streq", "$_regex", "$_strlen", "$_memeq", "$_any", "$_caller"] {
            assert!(!both.contains(word), "{word}");
        }
    }

    /// Each `define` has its `document`, and each block its `end`.
    #[test]
    fn every_command_is_documented() {
        for text in [controlled(true), script(Program::Recording { hang: Some(2) }, Some(1))] {
            let named = |word: &str| -> Vec<String> {
                let lines = text.lines().filter_map(|line| line.strip_prefix(word));
                lines.map(str::to_string).collect()
            };
            assert_eq!(named("define "), named("document "));
            let begins = ["define ", "document ", "if ", "while "];
            let is_begin = |line: &str| begins.iter().any(|b| line.starts_with(b));
            let begun = text.lines().map(str::trim).filter(|l| is_begin(l) || *l == "commands");
            let ended = text.lines().filter(|line| line.trim() == "end");
            assert_eq!(begun.count(), ended.count(), "{text}");
        }
    }
}
