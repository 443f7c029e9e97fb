//! Records the trail, the events of a round, where the plan asks for it. A round is the same with
//! and without.

use std::cell::{Cell, UnsafeCell};
use std::sync::atomic::{AtomicBool, Ordering};

use interlap::trace::trail::{AROUND_MAX, Act, EVENTS_FIRST, EVENTS_MAX, Event};

use super::{backtrace, coverage};
use crate::controlled::core::access::{AccessEvent, Class, Effect, Listener, Made};
use crate::controlled::core::{control, engine, layout};

/// Whether the plan asks for a trail.
static WANTED: AtomicBool = AtomicBool::new(false);

/// Nothing is mapped below this address.
const PAGE: usize = 4096;

struct Events {
    /// The first [`EVENTS_FIRST`], then a ring of the last ones.
    events: UnsafeCell<Vec<Event>>,
    noted: Cell<usize>,
    /// The last event is a plain write, whose value is in memory only by the next event.
    writes: Cell<bool>,
}

// SAFETY: used by the thread that runs under control alone, as the engine.
unsafe impl Sync for Events {}

static TRAIL: Events =
    Events { events: UnsafeCell::new(Vec::new()), noted: Cell::new(0), writes: Cell::new(false) };

/// A round begins.
pub fn begin(wanted: bool) {
    WANTED.store(wanted, Ordering::Relaxed);
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
    WANTED.load(Ordering::Relaxed)
}

/// The round's events, if they were wanted.
pub fn taken() -> Option<Vec<Event>> {
    is_wanted().then(|| {
        finish_write();
        // SAFETY: no thread of the target runs now, or the caller is the one that does.
        let mut events = unsafe { (*TRAIL.events.get()).clone() };
        if TRAIL.noted.get() > EVENTS_MAX {
            events[EVENTS_FIRST..].rotate_left(index_of(TRAIL.noted.get()) - EVENTS_FIRST);
        }
        events
    })
}

/// Index of the event with this number.
fn index_of(number: usize) -> usize {
    match number.checked_sub(EVENTS_MAX) {
        None => number,
        Some(later) => EVENTS_FIRST + later % (EVENTS_MAX - EVENTS_FIRST),
    }
}

/// Notes accesses as events of the round.
pub struct Trail;

impl Listener for Trail {
    /// Notes plain accesses beforehand: no hook reports that they were made.
    #[inline(always)]
    fn passes(event: &AccessEvent) {
        if is_wanted() && matches!(event.class, Class::Plain | Class::Volatile) {
            note_plain(*event);
        }
    }

    #[inline(always)]
    fn made(event: &AccessEvent, made: Made) {
        if is_wanted() && !layout::is_stack(event.address) {
            note_made(*event, made);
        }
    }

    fn wants_plain() -> bool {
        is_wanted()
    }

    fn wants_made() -> bool {
        is_wanted()
    }
}

#[cold]
fn note_plain(event: AccessEvent) {
    if control::controls() && !layout::is_stack(event.address) {
        let now = bytes(event.address, event.size);
        let act = if event.effect.writes() { Act::Write } else { Act::Read };
        push(event, Made { act, before: now, after: now });
    }
}

/// A store may leave its buffer outside of control; all other accesses are the target's.
#[cold]
fn note_made(event: AccessEvent, made: Made) {
    if !control::controls() && made.act != Act::Drain {
        return;
    }
    let place = match event.class {
        Class::Lock => out_of_control(backtrace::here),
        _ => event.place,
    };
    push(AccessEvent { place, ..event }, made);
}

fn out_of_control<T>(look: impl FnOnce() -> T) -> T {
    let controls = control::set_controls(false);
    let found = look();
    control::set_controls(controls);
    found
}

/// The calling functions of the event's, in the library. The search is slow, so only the first
/// events have them.
fn callers(code: usize) -> [u64; AROUND_MAX] {
    out_of_control(|| backtrace::callers_of(code).map(coverage::address_in_file))
}

/// The calling functions of the last such act on a block, made by the call that returns to `code`;
/// none where the trail does not have it.
pub fn callers_of_last(act: Act, address: usize, code: usize) -> Option<[usize; AROUND_MAX]> {
    if !is_wanted() {
        return None;
    }
    // SAFETY: see Events.
    let events = unsafe { &*TRAIL.events.get() };
    let is_it = |event: &&Event| {
        (event.act, event.address, event.code)
            == (act, address as u64, coverage::address_in_file(code))
    };
    let found = events.iter().filter(is_it).max_by_key(|event| event.step)?;
    Some(found.around.map(coverage::address_from_file))
}

/// The running thread ends the process, by this signal or 0.
pub fn crash(signal: i32, address: usize, code: usize) {
    if is_wanted() {
        let event = AccessEvent::new(engine::current(), Class::Pause, Effect::None, address);
        let event = AccessEvent { size: signal as usize, place: code, ..event };
        push(event, Made::only(Act::Crash));
    }
}

fn push(event: AccessEvent, made: Made) {
    finish_write();
    let noted = TRAIL.noted.get();
    let AccessEvent { thread, address, size, place: code, .. } = event;
    let event = Event {
        step: engine::step(),
        thread: thread as u32,
        call: if thread <= engine::callers() { engine::calls(thread).0 } else { 0 },
        act: made.act,
        address: address as u64,
        size: size as u32,
        before: made.before,
        after: made.after,
        code: coverage::address_in_file(code),
        around: if noted < EVENTS_FIRST { callers(code) } else { Default::default() },
    };
    // SAFETY: see Events; there is room, so nothing is allocated.
    let events = unsafe { &mut *TRAIL.events.get() };
    match noted < EVENTS_MAX {
        true => events.push(event),
        false => events[index_of(noted)] = event,
    }
    TRAIL.noted.set(noted + 1);
    TRAIL.writes.set(made.act == Act::Write);
}

fn finish_write() {
    if TRAIL.writes.replace(false) {
        let last = index_of(TRAIL.noted.get() - 1);
        // SAFETY: see Events.
        let event = unsafe { &mut (&mut *TRAIL.events.get())[last] };
        event.after = bytes(event.address as usize, event.size as usize);
    }
}

/// The first bytes at the address; 0 where nothing is mapped, because the target is about to crash
/// there itself. The kernel reads them, which does not fault.
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
        // mapped. If it has unmapped that since, the fault is reported as the target's.
        unsafe { std::ptr::copy_nonoverlapping(at, bytes.as_mut_ptr(), len) };
    }
    u64::from_le_bytes(bytes)
}
