//! Decodes the pipe of a supervised harness on a thread of its own and sends whole rounds.
//! When the pipe ends, it also reads the frames left in the outbox of the record area.

use std::fs::File;
use std::process::{ChildStdin, ChildStdout};
use std::sync::OnceLock;
use std::sync::mpsc::SyncSender;

use crate::trace::area::Snapshot;
use crate::trace::frame::{Bye, Detected, Frame, FrameError, FrameReader, Hello, Problem, Steps};
use crate::trace::rounds::{Assembler, Completed, Finished, Part, RoundError};

/// So many rounds, or rounds with this many operations, are sent even if more are waiting in the
/// pipe.
const BATCH_ROUNDS: usize = 1024;
const BATCH_OPERATIONS: usize = 16_384;

/// A message of the reading thread.
pub(super) enum Message {
    Hello(Box<Hello>),
    Rounds(Vec<Finished>),
    Part(Box<Part>),
    Detected(Box<Detected>),
    Cut(Box<Steps>),
    /// The stream is not what a harness writes.
    Damaged,
    Problem(Problem),
    Bye(Bye),
}

/// The reading thread's ends of the pipes. Closing `go_ahead` lets the harness start: it waits
/// until its record area is open here, so that even an early death leaves the records.
pub(super) struct Pipes {
    pub frames: ChildStdout,
    pub go_ahead: Option<ChildStdin>,
}

/// Reads until the harness sends its last frame, the stream ends, or the receiver is dropped.
pub(super) fn read_frames(
    mut pipes: Pipes,
    pid: u32,
    area: &OnceLock<File>,
    sender: &SyncSender<Message>,
) {
    let mut frames = FrameReader::new(pipes.frames);
    let mut feed = Feed::new(sender);
    loop {
        let more = match frames.next_frame() {
            Ok(Some(Frame::Hello(hello))) => {
                open_area(pid, &hello, area);
                drop(pipes.go_ahead.take());
                feed.assembler = Assembler::of(&hello.target);
                feed.send(Message::Hello(hello))
            }
            Ok(Some(frame)) => feed.take(frame, frames.has_buffered()),
            Err(error @ FrameError::Version(_)) => {
                feed.send(Message::Problem(error.to_string().into()));
                false
            }
            Err(FrameError::Damaged { .. }) if area.get().is_some() => {
                feed.send(Message::Damaged);
                false
            }
            // Whatever cut the stream off ended the process, which `Harness` examines.
            Ok(None) | Err(_) => break,
        };
        if !more {
            return;
        }
    }
    if let Some(area) = area.get() {
        feed.read_outbox(area);
    }
    feed.flush();
}

/// Opens the record area, a memory file of the harness, so that it outlives the harness.
fn open_area(pid: u32, hello: &Hello, area: &OnceLock<File>) {
    let pid = hello.process.unwrap_or(pid);
    let path = hello.area_fd.map(|fd| format!("/proc/{pid}/fd/{fd}"));
    if let Some(file) = path.and_then(|path| File::open(path).ok()) {
        let _ = area.set(file);
    }
}

/// Assembles frames and sends rounds, several at once if they are short.
struct Feed<'a> {
    sender: &'a SyncSender<Message>,
    assembler: Assembler,
    rounds: Vec<Finished>,
    operations: usize,
    /// The last complete round.
    last: Option<u64>,
}

impl Feed<'_> {
    fn new(sender: &SyncSender<Message>) -> Feed<'_> {
        let assembler = Assembler::default();
        Feed { sender, assembler, rounds: Vec::new(), operations: 0, last: None }
    }

    /// Takes a frame; `more`: the next one is already here. Returns whether to continue.
    fn take(&mut self, frame: Frame, more: bool) -> bool {
        let last = match frame {
            Frame::Problem(problem) => Message::Problem(problem),
            Frame::Bye(bye) => Message::Bye(bye),
            Frame::Fault(detected) => Message::Detected(Box::new(detected)),
            Frame::Cut(steps) => return self.send(Message::Cut(steps)),
            frame => match self.assembler.feed_in_parts(frame) {
                Ok(Some(Completed::Part(part))) => {
                    return self.send(Message::Part(Box::new(part)));
                }
                Ok(fed) => {
                    self.keep(fed);
                    let more = more || self.assembler.is_inside_a_round();
                    return (more && !self.is_full()) || self.flush();
                }
                Err(RoundError::Damaged(_)) => Message::Damaged,
                Err(error) => Message::Problem(error.to_string().into()),
            },
        };
        self.send(last);
        false
    }

    fn is_full(&self) -> bool {
        self.rounds.len() >= BATCH_ROUNDS || self.operations >= BATCH_OPERATIONS
    }

    /// The numbers of rounds ascend. A round with a lower number was already seen.
    fn keep(&mut self, completed: Option<Completed>) {
        let Some(Completed::Round(round)) = completed else { return };
        if self.last.is_none_or(|last| round.round() > last) {
            self.last = Some(round.round());
            self.operations += round.operations();
            self.rounds.push(round);
        }
    }

    /// Reads the rounds that were finished when the harness ended, but not written to the pipe.
    fn read_outbox(&mut self, area: &File) {
        let Ok(snapshot) = Snapshot::read(area) else { return };
        let Ok(bytes) = snapshot.outbox(area) else {
            self.send(Message::Damaged);
            return;
        };
        // If the pipe had only a part of a round, the outbox may have the whole round.
        self.assembler.restart();
        let mut frames = FrameReader::resumed(&bytes[..]);
        while let Ok(Some(frame)) = frames.next_frame() {
            match self.assembler.feed_in_parts(frame) {
                Ok(completed) => self.keep(completed),
                Err(_) => return,
            }
        }
    }

    fn flush(&mut self) -> bool {
        self.operations = 0;
        let rounds = std::mem::take(&mut self.rounds);
        rounds.is_empty() || self.sender.send(Message::Rounds(rounds)).is_ok()
    }

    fn send(&mut self, message: Message) -> bool {
        self.flush() && self.sender.send(message).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Seek, SeekFrom, Write};
    use std::sync::mpsc::sync_channel;

    use super::*;
    use crate::trace::area::{HEADER_BYTES, MAGIC, OUTBOX_BYTES, WORD_MAGIC, WORD_OUTBOX, WORDS};
    use crate::trace::frame::{RoundEnd, RoundStart, write};

    fn round(number: u64) -> Vec<u8> {
        let (threads, calls, sequential, fresh) = (1, 0, false, false);
        let start = RoundStart { round: number, threads, calls, sequential, fresh };
        let end = RoundEnd::new(number, true);
        let mut bytes = Vec::new();
        write(&mut bytes, &Frame::Round(start)).expect("memory");
        write(&mut bytes, &Frame::End(end)).expect("memory");
        bytes
    }

    /// An area whose outbox holds `outbox`.
    fn area(outbox: &[u8]) -> File {
        let mut words = vec![0u64; WORDS];
        words[WORD_MAGIC] = MAGIC;
        words[WORD_OUTBOX] = outbox.len() as u64;
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.resize(HEADER_BYTES, 0);
        bytes.extend_from_slice(outbox);
        bytes.resize(HEADER_BYTES + OUTBOX_BYTES, 0);
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(&bytes).expect("room");
        file.seek(SeekFrom::Start(0)).expect("a file");
        file
    }

    #[test]
    fn the_outbox_gives_the_rounds_that_the_pipe_did_not() {
        let outbox = [round(4), round(6), round(8)].concat();
        // The last frame of the outbox is cut off wherever the harness was when it died.
        for cut in 0..=outbox.len() {
            let (sender, messages) = sync_channel(4);
            let mut feed = Feed::new(&sender);
            let piece = [round(2), round(4)].concat();
            let mut frames = FrameReader::resumed(&piece[..]);
            while let Ok(Some(frame)) = frames.next_frame() {
                assert!(feed.take(frame, true));
            }
            // The pipe brought the beginning of round 6.
            let begun = FrameReader::resumed(&round(6)[..]).next_frame().expect("sound");
            assert!(feed.take(begun.expect("a frame"), true));
            feed.read_outbox(&area(&outbox[..cut]));
            feed.flush();
            let Ok(Message::Rounds(rounds)) = messages.try_recv() else { panic!("no rounds") };
            let numbers: Vec<u64> = rounds.iter().map(Finished::round).collect();
            assert!(numbers.len() >= 2 && numbers == [2, 4, 6, 8][..numbers.len()], "{cut}");
            assert_eq!(numbers.len() == 4, cut == outbox.len());
        }
    }
}
