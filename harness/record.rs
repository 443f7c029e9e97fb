//! The record area, memory in which every thread records its calls (layout:
//! `interlap::trace::area`), and its outbox of finished rounds. The main program holds the area
//! open, so nothing recorded is lost, however this process ends.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::time::Duration;

use interlap::trace::area::{self, Ended, Stage};
use interlap::trace::frame::{self, RECORDS_BYTES_MAX};
use interlap::trace::records::Seal;
use rustix::fs::MemfdFlags;
use rustix::mm::{Advice, MapFlags, ProtFlags};

use crate::pipe::Pipe;

/// If a round has more records than this, their memory is freed as they are sent.
const KEPT_BYTES: u64 = 4 << 20;

const PAGE: usize = 4096;

/// Offset of the records, behind the header and the outbox.
const RECORDS_AT: usize = area::HEADER_BYTES + area::OUTBOX_BYTES;

/// The outbox is sent when it has so many bytes, or after so long.
const POST_BYTES: usize = 60 << 10;
const POST_TIME: Duration = Duration::from_millis(20);
const _: () = assert!(POST_BYTES < area::OUTBOX_BYTES);

/// The header of the area, for [`left_in_outbox`].
static HEADER: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());

/// The frames in the outbox behind this header; none if the target changed them.
fn outbox<'a>(header: *mut u8) -> &'a [u8] {
    // SAFETY: `header` is that of an area, whose header and outbox stay mapped for the process's
    // life; only the thread that calls this changes the outbox.
    let (word, bytes) = unsafe {
        let word = |at: usize| AtomicU64::from_ptr(header.cast::<u64>().add(at));
        let bytes = header.add(area::HEADER_BYTES);
        (word, std::slice::from_raw_parts(bytes, area::OUTBOX_BYTES))
    };
    let [used, seal] =
        [area::WORD_OUTBOX, area::WORD_OUTBOX_SEAL].map(|at| word(at).load(Ordering::Acquire));
    let used = bytes.get(..used as usize).filter(|used| Seal::fits(seal, used));
    used.unwrap_or_default()
}

/// The frames of finished rounds that are not on the pipe, whoever asks; none if there is no area.
pub fn left_in_outbox<'a>() -> &'a [u8] {
    let header = HEADER.load(Ordering::Acquire);
    if header.is_null() { &[] } else { outbox(header) }
}

/// The words that say what a thread has recorded.
#[derive(Clone, Copy)]
pub struct Recorded<'a> {
    len: &'a AtomicU64,
    seal: &'a AtomicU64,
}

impl<'a> Recorded<'a> {
    pub fn new(len: &'a AtomicU64, seal: &'a AtomicU64) -> Recorded<'a> {
        Recorded { len, seal }
    }

    /// So many bytes; the last record may be that of a call under way.
    #[inline]
    pub fn reach(self, len: usize) {
        self.len.store(len as u64, Ordering::Release);
    }

    /// So many bytes of complete records with this seal.
    #[inline]
    pub fn complete(self, len: usize, seal: u64) {
        // The seal never has more bytes than there are: the main program may look at any time.
        self.reach(len);
        self.seal.store(seal, Ordering::Release);
    }

    fn clear(self) {
        self.seal.store(0, Ordering::Release);
        self.reach(0);
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
    posted: Posted,
    /// When the outbox was last sent.
    sent: Duration,
}

/// What is in the outbox.
#[derive(Default)]
struct Posted {
    bytes: usize,
    seal: Seal,
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
        let (posted, sent) = (Posted::default(), coarse_time());
        let area =
            Area { file, header, records, len, bytes_per_thread: 0, threads: 0, posted, sent };
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
        let bytes_per_thread = bytes_per_thread.next_multiple_of(PAGE);
        let len = bytes_per_thread * (threads as usize + 1);
        if len > self.len {
            rustix::fs::ftruncate(&self.file, (RECORDS_AT + len) as u64)?;
            let records = map(&self.file, RECORDS_AT, len)?;
            // SAFETY: nothing borrows the old mapping: every borrow of it borrows `self`.
            unsafe { unmap(self.records, self.len) }?;
            (self.records, self.len) = (records, len);
        }
        (self.bytes_per_thread, self.threads) = (bytes_per_thread, threads);
        for thread in 0..=threads as usize {
            let offset = RECORDS_AT + thread * bytes_per_thread;
            self.word(area::word_of_thread(thread)).store(offset as u64, Ordering::Relaxed);
            self.recorded(thread as u32).clear();
            self.edges(thread as u32).store(0, Ordering::Relaxed);
        }
        self.word(area::WORD_PART).store(0, Ordering::Relaxed);
        self.word(area::WORD_THREADS).store(threads.into(), Ordering::Relaxed);
        self.word(area::WORD_ROUND).store(round, Ordering::Release);
        Ok(())
    }

    pub fn recorded(&self, thread: u32) -> Recorded<'_> {
        let first = area::word_of_thread(thread as usize);
        Recorded::new(self.word(first + 1), self.word(first + area::SEAL_AT))
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

    /// A thread's records, once it has stopped. Ends the process if they are not what it wrote.
    pub fn records(&mut self, thread: u32) -> &[u8] {
        let len = self.recorded_bytes(thread);
        // SAFETY: `&mut self`: no thread records now.
        let bytes = unsafe { self.thread_bytes(thread) };
        self.unchanged(thread, bytes.get(..len).unwrap_or_default())
    }

    fn recorded_bytes(&self, thread: u32) -> usize {
        self.recorded(thread).len.load(Ordering::Acquire) as usize
    }

    /// These bytes of a thread, if they are all that it has recorded, and as it wrote them.
    fn unchanged<'b>(&self, thread: u32, bytes: &'b [u8]) -> &'b [u8] {
        let seal = self.recorded(thread).seal.load(Ordering::Acquire);
        if bytes.len() != self.recorded_bytes(thread) || !Seal::fits(seal, bytes) {
            crate::fault::end_for(Ended::Damaged);
        }
        bytes
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
            for piece in self.records(thread).chunks(RECORDS_BYTES_MAX) {
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
            let mut bytes = vec![0; self.recorded_bytes(thread).min(self.bytes_per_thread)];
            self.file.read_exact_at(&mut bytes, from as u64)?;
            for piece in self.unchanged(thread, &bytes).chunks(RECORDS_BYTES_MAX) {
                frame::write_records(sink, thread, piece)?;
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
            self.recorded(thread).clear();
        }
        self.word(area::WORD_PART).store(part, Ordering::Release);
    }

    /// Puts the frames of a finished round into the outbox, which is sent when it is full or old: a
    /// write for each round would cost more than the round. Empties `frames`.
    pub fn post(&mut self, frames: &mut Vec<u8>, pipe: &mut Pipe) -> io::Result<()> {
        let used = self.posted.bytes + frames.len();
        if used > POST_BYTES || coarse_time() - self.sent > POST_TIME {
            self.flush(pipe)?;
            return pipe.write(frames);
        }
        // SAFETY: inside the outbox, which is mapped behind the header and used here alone.
        let outbox = unsafe {
            let outbox = self.header.add(area::HEADER_BYTES);
            let end = outbox.add(self.posted.bytes);
            std::ptr::copy_nonoverlapping(frames.as_ptr(), end, frames.len());
            std::slice::from_raw_parts(outbox, used)
        };
        self.posted.bytes = used;
        self.posted.seal.lengthen(outbox);
        self.word(area::WORD_OUTBOX).store(used as u64, Ordering::Release);
        self.word(area::WORD_OUTBOX_SEAL).store(self.posted.seal.packed(), Ordering::Release);
        frames.clear();
        Ok(())
    }

    /// Sends what is in the outbox.
    pub fn flush(&mut self, pipe: &mut Pipe) -> io::Result<()> {
        let outbox = outbox(self.header);
        if outbox.len() != self.posted.bytes {
            crate::fault::end_for(Ended::Damaged);
        }
        pipe.write_all(outbox)?;
        self.posted = Posted::default();
        self.word(area::WORD_OUTBOX_SEAL).store(0, Ordering::Release);
        self.word(area::WORD_OUTBOX).store(0, Ordering::Release);
        self.sent = coarse_time();
        Ok(())
    }

    /// Appends the round's records to `sink` as frames; writes to the pipe and frees memory where
    /// there are many.
    pub fn send(&mut self, sink: &mut Vec<u8>, pipe: &mut Pipe) -> io::Result<()> {
        let recorded = |thread| self.recorded_bytes(thread) as u64;
        let large = (0..=self.threads).map(recorded).fold(0, u64::saturating_add) > KEPT_BYTES;
        for thread in 0..=self.threads {
            for piece in self.records(thread).chunks(RECORDS_BYTES_MAX) {
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
        let _ = unsafe { unmap(self.records, self.len) };
    }
}

/// Time of a clock that is read without `rdtsc`, which may fault on threads that run a target. It
/// advances every few milliseconds.
fn coarse_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::MonotonicCoarse);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Maps a part of the file between two pages that nobody may touch: a target that writes past
/// memory of its own faults there.
fn map(file: &File, offset: usize, len: usize) -> io::Result<*mut u8> {
    let (hint, flags) = (std::ptr::null_mut(), MapFlags::PRIVATE | MapFlags::NORESERVE);
    // SAFETY: a new mapping at an address that the kernel chooses.
    let whole =
        unsafe { rustix::mm::mmap_anonymous(hint, len + 2 * PAGE, ProtFlags::empty(), flags)? };
    let base = whole.cast::<u8>().wrapping_add(PAGE);
    let protection = ProtFlags::READ | ProtFlags::WRITE;
    let flags = MapFlags::SHARED | MapFlags::NORESERVE | MapFlags::FIXED;
    // SAFETY: replaces pages of the mapping above, which nobody uses yet.
    unsafe { rustix::mm::mmap(base.cast(), len, protection, flags, file, offset as u64) }?;
    Ok(base)
}

/// Removes what [`map`] made.
///
/// # Safety
/// Nothing borrows the memory.
unsafe fn unmap(base: *mut u8, len: usize) -> io::Result<()> {
    // SAFETY: the pages that `map` took, unborrowed by the caller's promise.
    Ok(unsafe { rustix::mm::munmap(base.wrapping_sub(PAGE).cast(), len + 2 * PAGE) }?)
}

/// Frees the whole pages of a piece of records that has been sent.
fn give_back(piece: &[u8]) -> io::Result<()> {
    let start = (piece.as_ptr() as usize).next_multiple_of(PAGE);
    let end = (piece.as_ptr() as usize + piece.len()) & !(PAGE - 1);
    if start < end {
        let pointer = std::ptr::with_exposed_provenance_mut(start);
        // SAFETY: whole pages inside the mapping, holding only bytes that were already sent;
        // removing them from the file makes later reads see zeros.
        unsafe { rustix::mm::madvise(pointer, end - start, Advice::LinuxRemove) }?;
    }
    Ok(())
}
