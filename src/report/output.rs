//! Writes standard output and standard error, so that a closed pipe does not end a command, and
//! that no text from a target, a finding or a history controls the terminal.
//!
//! `println!` panics if nobody reads. [`Output`] remembers the first failed write, drops later
//! ones, and the command goes on; [`Output::finish`] reports the error.

use std::borrow::Cow;
use std::fmt::Arguments;
use std::io::{self, ErrorKind, Write};

use anyhow::{Result, anyhow};

/// Standard output, or any writer in tests.
pub struct Output {
    writer: Box<dyn Write>,
    failure: Option<io::Error>,
}

impl Output {
    pub fn standard() -> Output {
        Output::to(Box::new(io::stdout()))
    }

    pub fn to(writer: Box<dyn Write>) -> Output {
        Output { writer, failure: None }
    }

    /// Called by `write!` and `writeln!`. Never fails: see [`Output::finish`].
    pub fn write_fmt(&mut self, text: Arguments) {
        if self.failure.is_none() {
            self.failure = self.writer.write_all(visible(&text.to_string()).as_bytes()).err();
        }
    }

    /// Flushes, as is needed before another program replaces this one.
    pub fn flush(&mut self) {
        if self.failure.is_none() {
            self.failure = self.writer.flush().err();
        }
    }

    /// Reports a failed write. A closed pipe is no error: its reader has seen enough.
    ///
    /// # Errors
    /// If the output could not be written for any other reason, such as a full disk.
    pub fn finish(mut self) -> Result<()> {
        self.flush();
        match self.failure {
            Some(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(anyhow!("cannot write to standard output: {error}"))
            }
            _ => Ok(()),
        }
    }
}

/// The text with those characters written as `\u001b` that control a terminal, or the direction of
/// what follows; not line feeds and tabs. In a string of JSON this is the same string.
pub fn visible(text: &str) -> Cow<'_, str> {
    let controls = |c: char| match c {
        '\n' | '\t' => false,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        c => c.is_control(),
    };
    if !text.contains(controls) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match controls(c) {
            true => shown += &format!("\\u{:04x}", u32::from(c)),
            false => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// Writes a line to standard error; ignores errors.
pub fn write_note(line: Arguments) {
    drop(writeln!(io::stderr(), "{}", visible(&line.to_string())));
}

/// Prints a line on standard error, like `eprintln!`.
macro_rules! note {
    ($($words:tt)*) => { $crate::report::output::write_note(format_args!($($words)*)) };
}

/// Prints a warning on standard error.
macro_rules! warning {
    ($($words:tt)*) => {
        $crate::report::output::write_note(format_args!("warning: {}", format_args!($($words)*)))
    };
}

pub(crate) use {note, warning};

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes so many writes, then fails.
    struct Failing(usize, ErrorKind);

    impl Write for Failing {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            match self.0.checked_sub(1) {
                Some(left) => self.0 = left,
                None => return Err(self.1.into()),
            }
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn no_text_controls_the_terminal() {
        assert_eq!(visible("a\tb\n"), "a\tb\n");
        assert!(matches!(visible("äöü → ├─A─┤"), Cow::Borrowed(_)));
        let evil = "\u{1b}[31m\r\u{7}\u{7f}\u{9b}2J\u{202e}";
        assert_eq!(visible(evil), "\\u001b[31m\\u000d\\u0007\\u007f\\u009b2J\\u202e");
        let json = serde_json::to_string(evil).expect("text");
        assert_eq!(serde_json::from_str::<String>(&visible(&json)).expect("JSON"), evil);
    }

    #[test]
    fn a_closed_pipe_is_no_error_and_a_full_disk_is() {
        for (kind, is_error) in [(ErrorKind::BrokenPipe, false), (ErrorKind::StorageFull, true)] {
            let mut output = Output::to(Box::new(Failing(1, kind)));
            writeln!(output, "one");
            writeln!(output, "two");
            assert_eq!(output.finish().is_err(), is_error, "{kind:?}");
        }
    }
}
