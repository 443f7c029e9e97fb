//! Writes standard output and standard error, so that a closed pipe does not end a command.
//!
//! `println!` panics if nobody reads. [`Output`] remembers the first failed write, drops later
//! ones, and the command goes on; [`Output::finish`] reports the error.

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

    fn to(writer: Box<dyn Write>) -> Output {
        Output { writer, failure: None }
    }

    /// Called by `write!` and `writeln!`. Never fails: see [`Output::finish`].
    pub fn write_fmt(&mut self, text: Arguments) {
        if self.failure.is_none() {
            self.failure = self.writer.write_fmt(text).err();
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

/// Writes a line to standard error; ignores errors.
pub fn write_note(line: Arguments) {
    drop(writeln!(io::stderr(), "{line}"));
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
    fn a_closed_pipe_is_no_error_and_a_full_disk_is() {
        for (kind, is_error) in [(ErrorKind::BrokenPipe, false), (ErrorKind::StorageFull, true)] {
            let mut output = Output::to(Box::new(Failing(1, kind)));
            writeln!(output, "one");
            writeln!(output, "two");
            assert_eq!(output.finish().is_err(), is_error, "{kind:?}");
        }
    }
}
