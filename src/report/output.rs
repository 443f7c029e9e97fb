//! Standard output and standard error, written so that no reader decides a command's exit status.
//!
//! `println!` panics where nobody reads. Here a failed write is remembered, later ones are dropped,
//! and the command goes on: it saves what it found, and [`Output::finish`] says what went wrong.

use std::fmt::Arguments;
use std::io::{self, ErrorKind, Write};

use anyhow::{Result, anyhow};

/// Where results go: standard output, or any writer in tests.
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

    /// What `write!` and `writeln!` call. Never fails: see [`Output::finish`].
    pub fn write_fmt(&mut self, text: Arguments) {
        if self.failure.is_none() {
            self.failure = self.writer.write_fmt(text).err();
        }
    }

    /// Hands everything over, before another program takes this one's place.
    pub fn flush(&mut self) {
        if self.failure.is_none() {
            self.failure = self.writer.flush().err();
        }
    }

    /// Whether all was written. A reader that closed its end has seen enough, which is no error.
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

/// Writes a line to standard error, if anybody reads it.
pub fn write_note(line: Arguments) {
    // Where nobody reads standard error either, there is no place left to say so.
    drop(writeln!(io::stderr(), "{line}"));
}

/// A line on standard error, in the words of `format!`.
macro_rules! note {
    ($($words:tt)*) => { $crate::report::output::write_note(format_args!($($words)*)) };
}

/// The same for what went wrong and does not end the command.
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
