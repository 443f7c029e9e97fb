//! The trail of a round, where the plan asks for one: accesses (from hooks.c), allocations and
//! locks come in, events go out with the round. Decides nothing: a round is the same without.

use std::cell::{Cell, UnsafeCell};
use std::sync::atomic::{AtomicU8, Ordering};

use interlap::trace::trail::{AROUND_MAX, Act, EVENTS_FIRST, EVENTS_MAX, Event};

use crate::controlled::core::{engine, layout};
use crate::controlled::interpose::hooks;
use crate::controlled::watch::coverage;

/// Whether events are noted. For hooks.c, too.
#[unsafe(no_mangle)]
static il_trails: AtomicU8 = AtomicU8::new(0);

/// Nothing is mapped below.
const PAGE: usize = 4096;

struct Trail {
    /// Those that are kept. The last ones are a ring, as soon as there are more.
    events: UnsafeCell<Vec<Event>>,
    noted: Cell<usize>,
    /// The last event is a plain write, whose value is in memory only when the next one comes.
    writes: Cell<bool>,
}

// SAFETY: used by the thread that runs under control alone, as the engine.
unsafe impl Sync for Trail {}

static TRAIL: Trail =
    Trail { events: UnsafeCell::new(Vec::new()), noted: Cell::new(0), writes: Cell::new(false) };

/// A round begins.
pub fn begin(wanted: bool) {
    il_trails.store(wanted.into(), Ordering::Relaxed);
    TRAIL.noted.set(0);
    TRAIL.writes.set(false);
    // SAFETY: no thread of the target runs now.
    let events = unsafe { &mut *TRAIL.events.get() };
    events.clear();
    if wanted {
        events.reserve_exact(EVENTS_MAX);
    }
}

#[inline]
pub fn is_wanted() -> bool {
    il_trails.load(Ordering::Relaxed) != 0
}

/// The round's events, if they were wanted.
pub fn taken() -> Option<Vec<Event>> {
    is_wanted().then(|| {
        finish_write();
        // SAFETY: no thread of the target runs now, or the caller is the one that does.
        let mut events = unsafe { (*TRAIL.events.get()).clone() };
        if TRAIL.noted.get() > EVENTS_MAX {
            events[EVENTS_FIRST..].rotate_left(place(TRAIL.noted.get()) - EVENTS_FIRST);
        }
        events
    })
}

/// Where the event of this number is kept.
fn place(number: usize) -> usize {
    match number.checked_sub(EVENTS_MAX) {
        None => number,
        Some(later) => EVENTS_FIRST + later % (EVENTS_MAX - EVENTS_FIRST),
    }
}

/// An event at this place of the target's code, a return address.
pub fn note(act: Act, address: usize, size: usize, (before, after): (u64, u64), code: usize) {
    if is_wanted() && engine::controls() && !layout::is_stack(address) {
        push(act, address, size, (before, after), code);
    }
}

/// The functions around the event's, as far as the library's code goes. To look is slow: not for
/// those that a loop without end makes.
fn around(code: usize) -> [u64; AROUND_MAX] {
    let controls = hooks::set_controls(false);
    let around = engine::around(code).map(coverage::in_library);
    hooks::set_controls(controls);
    around
}

/// The functions around that in which this was last done to a block, by the call that returns to
/// `code`; none where the trail does not have it.
pub fn around_last(act: Act, address: usize, code: usize) -> Option<[usize; AROUND_MAX]> {
    if !is_wanted() {
        return None;
    }
    // SAFETY: see Trail.
    let events = unsafe { &*TRAIL.events.get() };
    let is_it = |event: &&Event| {
        (event.act, event.address, event.code) == (act, address as u64, coverage::in_library(code))
    };
    let found = events.iter().filter(is_it).max_by_key(|event| event.step)?;
    Some(found.around.map(coverage::of_library))
}

/// The running thread ends the process, by this signal or 0.
pub fn crash(signal: i32, address: usize, code: usize) {
    if is_wanted() {
        push(Act::Crash, address, signal as usize, (0, 0), code);
    }
}

/// What waited in this thread's store buffer is in memory now.
pub fn drained(thread: usize, address: usize, size: usize, values: (u64, u64), code: usize) {
    if is_wanted() && !layout::is_stack(address) {
        push_of(thread, Act::Drain, address, size, values, code);
    }
}

fn push(act: Act, address: usize, size: usize, values: (u64, u64), code: usize) {
    push_of(engine::current(), act, address, size, values, code);
}

fn push_of(
    thread: usize,
    act: Act,
    address: usize,
    size: usize,
    (before, after): (u64, u64),
    code: usize,
) {
    finish_write();
    let noted = TRAIL.noted.get();
    let event = Event {
        step: engine::step(),
        thread: thread as u32,
        call: if thread <= engine::callers() { engine::calls(thread).0 } else { 0 },
        act,
        address: address as u64,
        size: size as u32,
        before,
        after,
        code: coverage::in_library(code),
        around: if noted < EVENTS_FIRST { around(code) } else { Default::default() },
    };
    // SAFETY: see Trail; there is room, so nothing is allocated.
    let events = unsafe { &mut *TRAIL.events.get() };
    match noted < EVENTS_MAX {
        true => events.push(event),
        false => events[place(noted)] = event,
    }
    TRAIL.noted.set(noted + 1);
    TRAIL.writes.set(act == Act::Write);
}

/// A lock is asked for or released, or a thread blocks.
pub fn note_lock(act: Act, address: usize) {
    if is_wanted() && engine::controls() {
        let controls = hooks::set_controls(false);
        let here = engine::here();
        hooks::set_controls(controls);
        note(act, address, 0, (0, 0), here);
    }
}

/// For hooks.c: an atomic access that was made.
#[unsafe(no_mangle)]
extern "C" fn il_note(act: u32, address: usize, size: u32, before: u64, after: u64, code: usize) {
    note(Act::ALL[act as usize], address, size as usize, (before, after), code);
}

/// An access that is about to be made and is not atomic.
pub fn plain(address: usize, size: usize, write: bool, code: usize) {
    let act = if write { Act::Write } else { Act::Read };
    if is_wanted() && !layout::is_stack(address) {
        let now = bytes(address, size);
        note(act, address, size, (now, now), code);
    }
}

fn finish_write() {
    if TRAIL.writes.replace(false) {
        let last = place(TRAIL.noted.get() - 1);
        // SAFETY: see Trail.
        let event = unsafe { &mut (&mut *TRAIL.events.get())[last] };
        event.after = bytes(event.address as usize, event.size as usize);
    }
}

/// The first bytes of what is there; 0 where nothing is: the target is about to crash, and is to do
/// so by itself. The kernel reads, for it looks first.
fn bytes(address: usize, size: usize) -> u64 {
    let mut bytes = [0; 8];
    let len = size.min(8);
    let to = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: len };
    let from = libc::iovec { iov_base: std::ptr::without_provenance_mut(address), iov_len: len };
    // SAFETY: `to` is of the array, which lives; what cannot be read is refused. The target's
    // `errno` is put back.
    let is_unknown = unsafe {
        let errno = libc::__errno_location();
        let before = *errno;
        let read = libc::process_vm_readv(libc::getpid(), &to, 1, &from, 1, 0);
        let is_refused = read < 0 && *errno != libc::EFAULT;
        *errno = before;
        is_refused
    };
    if is_unknown && address >= PAGE {
        let at: *const u8 = std::ptr::with_exposed_provenance(address);
        // SAFETY: memory that the target is about to access, or has accessed: a freed block stays
        // mapped. What it has unmapped since is a fault of the target's, told as one.
        unsafe { std::ptr::copy_nonoverlapping(at, bytes.as_mut_ptr(), len) };
    }
    u64::from_le_bytes(bytes)
}
