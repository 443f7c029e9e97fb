//! The record area, memory in which every thread records its calls (layout:
//! `interlap::trace::area`), and the pipe on which finished rounds are sent as frames. The main
//! program holds the area open, so nothing recorded is lost, however this process ends.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicI32, AtomicPtr, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use interlap::core::plan::OWN_FAILURE;
use interlap::trace::area::{self, Ended, Stage};
use interlap::trace::frame::{self, Frame, Problem, RECORDS_BYTES_MAX};
use rustix::fs::MemfdFlags;
use rustix::mm::{Advice, MapFlags, ProtFlags};

/// If a round has more records than this, their memory is freed as they are sent.
const KEPT_BYTES: u64 = 4 << 20;

/// Offset of the records, behind the header and the outbox.
const RECORDS_AT: usize = area::HEADER_BYTES + area::OUTBOX_BYTES;

/// The outbox is sent when it has so many bytes, or after so long.
const POST_BYTES: usize = 60 << 10;
const POST_TIME: Duration = Duration::from_millis(20);
const _: () = assert!(POST_BYTES < area::OUTBOX_BYTES);

/// The header of the area, for [`send_last`].
static HEADER: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());

/// The frames in the outbox behind this header.
fn outbox<'a>(header: *mut u8) -> &'a [u8] {
    // SAFETY: `header` is that of an area, whose header and outbox stay mapped for the process's
    // life; only the thread that calls this changes the outbox.
    unsafe {
        let used = AtomicU64::from_ptr(header.cast::<u64>().add(area::WORD_OUTBOX));
        let used = (used.load(Ordering::Acquire) as usize).min(area::OUTBOX_BYTES);
        std::slice::from_raw_parts(header.add(area::HEADER_BYTES), used)
    }
}

/// The mapped area. The header stays in place. The records are mapped anew when they must grow,
/// which needs `&mut`, so no thread records then.
pub struct Area {
    file: File,
    header: *mut u8,
    records: *mut u8,
    len: usize,
    bytes_per_thread: usize,
    threads: u32,
    /// When the outbox was last sent.
    posted: Instant,
}

// SAFETY: threads reach the area only through `words` (atomics) and `thread_bytes`, whose callers
// promise that each thread's region has one user at a time.
unsafe impl Sync for Area {}
// SAFETY: a mapping belongs to the process, not to the thread that made it.
unsafe impl Send for Area {}

impl Area {
    pub fn create() -> io::Result<Area> {
        let file = File::from(rustix::fs::memfd_create("interlap-records", MemfdFlags::CLOEXEC)?);
        let len = 1 << 20;
        rustix::fs::ftruncate(&file, (RECORDS_AT + len) as u64)?;
        let header = map(&file, 0, RECORDS_AT)?;
        let records = map(&file, RECORDS_AT, len)?;
        let posted = Instant::now();
        let area = Area { file, header, records, len, bytes_per_thread: 0, threads: 0, posted };
        HEADER.store(header, Ordering::Release);
        area.word(area::WORD_MAGIC).store(area::MAGIC, Ordering::Release);
        Ok(area)
    }

    pub fn descriptor(&self) -> i32 {
        self.file.as_raw_fd()
    }

    /// One word of the header.
    pub fn word(&self, at: usize) -> &AtomicU64 {
        assert!(at < area::WORDS && area::WORDS * 8 <= area::HEADER_BYTES);
        // SAFETY: inside the header, which is always mapped and page aligned; all accesses to it
        // in this process are atomic.
        unsafe { AtomicU64::from_ptr(self.header.cast::<u64>().add(at)) }
    }

    pub fn set_stage(&self, stage: Stage) {
        self.word(area::WORD_STAGE).store(stage as u64, Ordering::Release);
    }

    /// Prepares the area for a round of `threads` callers and the draining thread.
    pub fn begin(&mut self, round: u64, threads: u32, bytes_per_thread: usize) -> io::Result<()> {
        let bytes_per_thread = bytes_per_thread.next_multiple_of(4096);
        let len = bytes_per_thread * (threads as usize + 1);
        if len > self.len {
            rustix::fs::ftruncate(&self.file, (RECORDS_AT + len) as u64)?;
            let records = map(&self.file, RECORDS_AT, len)?;
            // SAFETY: nothing borrows the old mapping: every borrow of it borrows `self`.
            unsafe { rustix::mm::munmap(self.records.cast(), self.len) }?;
            (self.records, self.len) = (records, len);
        }
        (self.bytes_per_thread, self.threads) = (bytes_per_thread, threads);
        for thread in 0..=threads as usize {
            let offset = RECORDS_AT + thread * bytes_per_thread;
            self.word(area::word_of_thread(thread)).store(offset as u64, Ordering::Relaxed);
            self.recorded(thread as u32).store(0, Ordering::Relaxed);
            self.edges(thread as u32).store(0, Ordering::Relaxed);
        }
        self.word(area::WORD_PART).store(0, Ordering::Relaxed);
        self.word(area::WORD_THREADS).store(threads.into(), Ordering::Relaxed);
        self.word(area::WORD_ROUND).store(round, Ordering::Release);
        Ok(())
    }

    /// How many bytes of whole records a thread has.
    pub fn recorded(&self, thread: u32) -> &AtomicU64 {
        self.word(area::word_of_thread(thread as usize) + 1)
    }

    fn edges(&self, thread: u32) -> &AtomicU64 {
        self.word(area::word_of_thread(thread as usize) + area::EDGES_AT)
    }

    /// Lets a thread enter or leave the target's structure. The main program may see that it does.
    pub fn at_edge<T>(&self, thread: u32, pass: impl FnOnce() -> T) -> T {
        self.edges(thread).fetch_add(1, Ordering::Release);
        let passed = pass();
        self.edges(thread).fetch_add(1, Ordering::Release);
        passed
    }

    /// As [`Area::recorded`], once the thread has stopped. Ends the process if the number cannot be
    /// one that a thread wrote.
    fn recorded_whole(&self, thread: u32) -> usize {
        let len = self.recorded(thread).load(Ordering::Acquire) as usize;
        if len > self.bytes_per_thread {
            crate::fault::end_for(Ended::Damaged);
        }
        len
    }

    /// The memory of one thread's records.
    ///
    /// # Safety
    /// No other borrow of this thread's memory is alive.
    #[allow(clippy::mut_from_ref)]
    pub unsafe fn thread_bytes(&self, thread: u32) -> &mut [u8] {
        assert!(thread <= self.threads);
        let offset = thread as usize * self.bytes_per_thread;
        // SAFETY: inside the mapping (`begin` made it long enough), apart from the other threads'
        // memory, and unborrowed by the caller's promise. Another process may read the file, never
        // write it.
        unsafe { std::slice::from_raw_parts_mut(self.records.add(offset), self.bytes_per_thread) }
    }

    /// Appends the round's records to `sink` as frames.
    pub fn write_records(&mut self, sink: &mut Vec<u8>) -> io::Result<()> {
        for thread in 0..=self.threads {
            let len = self.recorded_whole(thread);
            // SAFETY: `&mut self`: no thread records now.
            let bytes = unsafe { self.thread_bytes(thread) };
            for piece in bytes[..len].chunks(RECORDS_BYTES_MAX) {
                frame::write_records(sink, thread, piece)?;
            }
        }
        Ok(())
    }

    /// Appends the records so far to `sink` as frames, as [`Area::send`] does. Reads them through
    /// the file, because waiting threads still borrow their memory.
    pub fn copy_records(&self, sink: &mut Vec<u8>, pipe: &mut Pipe) -> io::Result<()> {
        for thread in 0..=self.threads {
            let from = RECORDS_AT + thread as usize * self.bytes_per_thread;
            let len = self.recorded_whole(thread);
            for at in (0..len).step_by(RECORDS_BYTES_MAX) {
                let mut bytes = vec![0; (len - at).min(RECORDS_BYTES_MAX)];
                self.file.read_exact_at(&mut bytes, (from + at) as u64)?;
                frame::write_records(sink, thread, &bytes)?;
                if sink.len() >= RECORDS_BYTES_MAX {
                    pipe.write(sink)?;
                }
            }
        }
        Ok(())
    }

    /// All threads begin their records anew. The part's number changes last, so that a reader of a
    /// dead harness's area knows whether its records were sent.
    pub fn begin_part(&self, part: u64) {
        for thread in 0..=self.threads {
            self.recorded(thread).store(0, Ordering::Relaxed);
        }
        self.word(area::WORD_PART).store(part, Ordering::Release);
    }

    /// Puts the frames of a finished round into the outbox, which is sent when it is full or old: a
    /// write for each round would cost more than the round. Empties `frames`.
    pub fn post(&mut self, frames: &mut Vec<u8>, pipe: &mut Pipe) -> io::Result<()> {
        let used = outbox(self.header).len();
        if used + frames.len() > POST_BYTES || self.posted.elapsed() > POST_TIME {
            self.flush(pipe)?;
            return pipe.write(frames);
        }
        // SAFETY: inside the outbox, which is mapped behind the header and used here alone.
        unsafe {
            let outbox = self.header.add(area::HEADER_BYTES + used);
            std::ptr::copy_nonoverlapping(frames.as_ptr(), outbox, frames.len());
        }
        let used = (used + frames.len()) as u64;
        self.word(area::WORD_OUTBOX).store(used, Ordering::Release);
        frames.clear();
        Ok(())
    }

    /// Sends what is in the outbox.
    pub fn flush(&mut self, pipe: &mut Pipe) -> io::Result<()> {
        pipe.write_all(outbox(self.header))?;
        self.word(area::WORD_OUTBOX).store(0, Ordering::Release);
        self.posted = Instant::now();
        Ok(())
    }

    /// Appends the round's records to `sink` as frames; writes to the pipe and frees memory where
    /// there are many.
    pub fn send(&mut self, sink: &mut Vec<u8>, pipe: &mut Pipe) -> io::Result<()> {
        let recorded = |thread| self.recorded_whole(thread) as u64;
        let large = (0..=self.threads).map(recorded).sum::<u64>() > KEPT_BYTES;
        for thread in 0..=self.threads {
            let len = self.recorded_whole(thread);
            // SAFETY: `&mut self`: no thread records now.
            let bytes = unsafe { self.thread_bytes(thread) };
            for piece in bytes[..len].chunks(RECORDS_BYTES_MAX) {
                frame::write_records(sink, thread, piece)?;
                if sink.len() >= RECORDS_BYTES_MAX {
                    pipe.write(sink)?;
                }
                if large {
                    give_back(piece)?;
                }
            }
        }
        Ok(())
    }
}

impl Drop for Area {
    fn drop(&mut self) {
        // SAFETY: nothing borrows an area that is dropped. The header stays, because the signal
        // handler may have its address. An error leaves a mapping until the process ends.
        let _ = unsafe { rustix::mm::munmap(self.records.cast(), self.len) };
    }
}

fn map(file: &File, offset: usize, len: usize) -> io::Result<*mut u8> {
    let protection = ProtFlags::READ | ProtFlags::WRITE;
    let flags = MapFlags::SHARED | MapFlags::NORESERVE;
    // SAFETY: a new mapping at an address that the kernel chooses.
    let base = unsafe {
        rustix::mm::mmap(std::ptr::null_mut(), len, protection, flags, file, offset as u64)
    }?;
    Ok(base.cast())
}

/// Frees the whole pages of a piece of records that has been sent.
fn give_back(piece: &[u8]) -> io::Result<()> {
    let start = (piece.as_ptr() as usize).next_multiple_of(4096);
    let end = (piece.as_ptr() as usize + piece.len()) & !4095;
    if start < end {
        let pointer = std::ptr::with_exposed_provenance_mut(start);
        // SAFETY: whole pages inside the mapping, holding only bytes that were already sent;
        // removing them from the file makes later reads see zeros.
        unsafe { rustix::mm::madvise(pointer, end - start, Advice::LinuxRemove) }?;
    }
    Ok(())
}

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
    let header = HEADER.load(Ordering::Acquire);
    let mut bytes = if header.is_null() { Vec::new() } else { outbox(header).to_vec() };
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
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
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
