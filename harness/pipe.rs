//! The pipe on which finished rounds are sent as frames to the main program. The last frame says
//! why the process ends, where it can still say so.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::path::Path;
use std::sync::atomic::{AtomicI32, Ordering};

use interlap::core::plan::OWN_FAILURE;
use interlap::trace::area::Ended;
use interlap::trace::frame::{self, Frame, Problem};

/// Descriptor of the pipe, for [`abandon`]; -1: there is no main program.
static PIPE: AtomicI32 = AtomicI32::new(-1);

/// Ends the process because the harness cannot go on. May be called on any thread while the target
/// runs: no frame is half written then, because frames are sent between rounds and their parts.
pub fn abandon(problem: Problem) -> ! {
    if PIPE.load(Ordering::Acquire) < 0 {
        crate::controlled::release();
        eprintln!("{OWN_FAILURE} {problem}");
    }
    send_last(&crate::controlled::growth::problem(problem))
}

/// Sends what is in the outbox and this frame, and ends the process.
pub fn send_last(last: &Frame) -> ! {
    crate::controlled::release();
    send(last);
    // SAFETY: ends the process at once: exit handlers of the target could crash or wait.
    unsafe { libc::_exit(0) }
}

/// Sends what is in the outbox and this frame. The outbox may be sent again: the reader ignores
/// rounds that it has seen.
pub fn send(frame: &Frame) {
    let mut bytes = crate::record::left_in_outbox().to_vec();
    let pipe = PIPE.load(Ordering::Acquire);
    if pipe >= 0 && frame::write(&mut bytes, frame).is_ok() {
        // SAFETY: the descriptor is open as long as the process lives (see Pipe::new).
        let pipe = unsafe { BorrowedFd::borrow_raw(pipe) };
        let mut rest = &bytes[..];
        while let Ok(written @ 1..) = rustix::io::write(pipe, rest) {
            rest = &rest[written..];
        }
    }
}

/// The pipe for frames.
pub struct Pipe(File);

impl Pipe {
    /// The pipe to the main program: one in a process, open until the process ends.
    pub fn new(file: File) -> Pipe {
        PIPE.store(file.as_raw_fd(), Ordering::Release);
        Pipe(file)
    }

    /// A file instead of a pipe, where there is no main program.
    pub fn into_file(path: &Path) -> io::Result<Pipe> {
        Ok(Pipe(File::options().write(true).create(true).truncate(true).open(path)?))
    }

    pub fn descriptor(&self) -> i32 {
        self.0.as_raw_fd()
    }

    pub fn file(&self) -> &File {
        &self.0
    }

    /// Writes `frames` and empties it.
    pub fn write(&mut self, frames: &mut Vec<u8>) -> io::Result<()> {
        self.write_all(frames)?;
        frames.clear();
        Ok(())
    }

    /// A descriptor that is not open, or not for writing, was the target's to close.
    pub fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        let written = self.0.write_all(bytes);
        if written.as_ref().is_err_and(|error| error.raw_os_error() == Some(libc::EBADF)) {
            crate::fault::end_for(Ended::Closed);
        }
        written
    }

    pub fn send(&mut self, frame: &Frame) -> io::Result<()> {
        let mut bytes = Vec::new();
        frame::write(&mut bytes, frame)?;
        self.write(&mut bytes)
    }
}
