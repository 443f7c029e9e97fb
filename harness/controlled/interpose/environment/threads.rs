//! Threads that the target starts, joins and detaches, and the destructors of `thread_local`
//! objects. The engine runs the threads; their results are kept here. Of a thread's attributes only
//! the detached state has an effect.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU8, AtomicU64, AtomicUsize, Ordering::Relaxed};

use libc::{
    EBUSY, EDEADLK, EINVAL, ETIMEDOUT, c_int, clockid_t, pthread_attr_t, pthread_t, timespec,
};

use super::lock_points::{acquires, before, releases, report_start};
use super::real::{self, Destructor, Start};
use super::thread_ids::THREADS;
use super::{keys, time};
use crate::controlled::accesses;
use crate::controlled::core::access::Effect;
use crate::controlled::core::engine::{self, Wait, Woken};
use crate::controlled::core::layout::{self, STACK_BYTES};

/// Thread-local objects of a thread that have yet to be destroyed.
const DESTRUCTORS_MAX: usize = 4096;

/// Keys of waits for the end of a thread: one for each, outside of all memory.
const JOINS: usize = usize::MAX - THREADS;

/// Nobody waits for the thread's end.
const NOBODY: usize = usize::MAX;

/// What is known of a thread's end.
#[repr(u8)]
enum JoinState {
    /// The target did not start it, or may no longer refer to it.
    Unknown,
    Joinable,
    Detached,
    /// Ended, and not joined yet.
    Ended,
}

const UNKNOWN: u8 = JoinState::Unknown as u8;
const JOINABLE: u8 = JoinState::Joinable as u8;
const DETACHED: u8 = JoinState::Detached as u8;
const ENDED: u8 = JoinState::Ended as u8;

struct Thread {
    state: AtomicU8,
    start: AtomicPtr<c_void>,
    argument: AtomicPtr<c_void>,
    result: AtomicPtr<c_void>,
    /// An address on its stack: below are the target's frames.
    base: AtomicUsize,
    /// The thread that waits for its end, or [`NOBODY`].
    joiner: AtomicUsize,
    /// How many of its [`DESTRUCTORS`] have yet to run.
    pending: AtomicUsize,
}

/// A destructor, and the object that it destroys.
struct Pending {
    destructor: AtomicPtr<c_void>,
    object: AtomicPtr<c_void>,
}

static ALL: [Thread; THREADS] = [const {
    Thread {
        state: AtomicU8::new(UNKNOWN),
        start: AtomicPtr::new(ptr::null_mut()),
        argument: AtomicPtr::new(ptr::null_mut()),
        result: AtomicPtr::new(ptr::null_mut()),
        base: AtomicUsize::new(0),
        joiner: AtomicUsize::new(NOBODY),
        pending: AtomicUsize::new(0),
    }
}; THREADS];

/// By thread. All zero at first, so that unused pages take no memory.
static DESTRUCTORS: [[Pending; DESTRUCTORS_MAX]; THREADS] = [const {
    [const {
        Pending {
            destructor: AtomicPtr::new(ptr::null_mut()),
            object: AtomicPtr::new(ptr::null_mut()),
        }
    }; DESTRUCTORS_MAX]
}; THREADS];

/// Bit t: thread t was used since the last [`reset`].
static USED: AtomicU64 = AtomicU64::new(0);

pub(super) fn reset() {
    let used = USED.swap(0, Relaxed);
    for (number, thread) in ALL.iter().enumerate() {
        if used >> number & 1 != 0 {
            thread.release();
        }
    }
    keys::reset();
}

/// Whether a new thread may have the number of an ended one: that one was joined, or was detached.
pub fn may_be_reused(thread: usize) -> bool {
    ALL[thread].state.load(Relaxed) == UNKNOWN
}

/// Runs on a thread that is about to end. Runs the destructors of its thread-local objects, the
/// latest first, then those of its keys, and wakes whoever joins it.
pub fn thread_ends() {
    while destroy_latest() {}
    keys::destroy_values();
    while destroy_latest() {}
    let thread = &ALL[engine::current()];
    match thread.state.load(Relaxed) {
        JOINABLE => thread.state.store(ENDED, Relaxed),
        _ => thread.release(),
    }
    releases(JOINS + engine::current());
    engine::wake(JOINS + engine::current(), usize::MAX);
    engine::changed();
}

impl Thread {
    fn release(&self) {
        self.state.store(UNKNOWN, Relaxed);
        self.joiner.store(NOBODY, Relaxed);
        self.pending.store(0, Relaxed);
    }
}

/// Runs the destructor that the running thread registered last; whether there was one.
fn destroy_latest() -> bool {
    let thread = engine::current();
    let Some(at) = ALL[thread].pending.load(Relaxed).checked_sub(1) else { return false };
    ALL[thread].pending.store(at, Relaxed);
    let latest = &DESTRUCTORS[thread][at];
    let (destructor, object) = (latest.destructor.load(Relaxed), latest.object.load(Relaxed));
    // SAFETY: stored from a destructor by `__cxa_thread_atexit`.
    let destructor = unsafe { std::mem::transmute::<*mut c_void, Destructor>(destructor) };
    // SAFETY: registered for this object, and run once.
    unsafe { destructor(object) };
    true
}

/// The first function of a thread that the target started.
extern "C-unwind" fn run(_argument: *mut c_void) -> *mut c_void {
    let thread = &ALL[engine::current()];
    // SAFETY: stored from a start function by `start`.
    let start = unsafe { std::mem::transmute::<*mut c_void, Start>(thread.start.load(Relaxed)) };
    let here = 0_u8;
    thread.base.store((&raw const here).addr(), Relaxed);
    // SAFETY: the target's function, with the argument it wanted.
    let result = unsafe { start(thread.argument.load(Relaxed)) };
    thread.result.store(result, Relaxed);
    result
}

/// Sets the running thread's result. Gives the address at which the target's frames begin, if the
/// target started the thread.
pub(super) fn set_result(result: *mut c_void) -> Option<usize> {
    let thread = &ALL[engine::current()];
    thread.result.store(result, Relaxed);
    (thread.state.load(Relaxed) != UNKNOWN).then(|| thread.base.load(Relaxed))
}

/// Starts a thread and gives its descriptor.
pub(super) fn start(start: Start, argument: *mut c_void, detached: bool) -> pthread_t {
    before(0, Effect::None);
    let Some(number) = engine::spawn(run, ptr::null_mut()) else {
        engine::cannot_control("more than 64 threads in a round");
    };
    report_start(number);
    let thread = &ALL[number];
    thread.release();
    USED.fetch_or(1 << number, Relaxed);
    thread.state.store(if detached { DETACHED } else { JOINABLE }, Relaxed);
    thread.start.store(start as *mut c_void, Relaxed);
    thread.argument.store(argument, Relaxed);
    thread.result.store(ptr::null_mut(), Relaxed);
    keys::thread_begins(number);
    engine::changed();
    engine::pthread(number)
}

/// Whether threads with these attributes are detached; null: they are not.
///
/// # Safety
/// `attributes` is null or points to initialised attributes.
unsafe fn is_detached(attributes: *const pthread_attr_t) -> bool {
    let mut state = libc::PTHREAD_CREATE_JOINABLE;
    if !attributes.is_null() {
        // SAFETY: the caller's attributes, and room for the answer.
        unsafe { real::pthread_attr_getdetachstate(attributes, &mut state) };
    }
    state == libc::PTHREAD_CREATE_DETACHED
}

/// Gives up on a thread that needs a larger stack than every virtual thread has.
///
/// # Safety
/// As for [`is_detached`].
unsafe fn check_stack(attributes: *const pthread_attr_t) {
    let (mut wanted, mut usual) = (0, 0);
    if !attributes.is_null() {
        // SAFETY: the caller's attributes, others made here, and room for the answers.
        unsafe {
            let mut plain = std::mem::zeroed();
            libc::pthread_attr_init(&mut plain);
            libc::pthread_attr_getstacksize(&plain, &mut usual);
            libc::pthread_attr_destroy(&mut plain);
            libc::pthread_attr_getstacksize(attributes, &mut wanted);
        }
    }
    if wanted > STACK_BYTES.max(usual) {
        engine::cannot_control(&format!("a thread with a stack of {} MiB", wanted >> 20));
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_create(
    into: *mut pthread_t,
    attributes: *const pthread_attr_t,
    function: Start,
    argument: *mut c_void,
) -> c_int {
    outside_control!(pthread_create(into, attributes, function, argument));
    // SAFETY: the caller's attributes.
    unsafe { check_stack(attributes) };
    // SAFETY: the caller's attributes, and where it wants the descriptor, before the thread runs.
    unsafe { *into = start(function, argument, is_detached(attributes)) };
    accesses::pause(0, Effect::None);
    0
}

/// Waits for a thread's end and takes its result.
fn wait_for(number: usize, deadline: Option<u64>) -> Result<*mut c_void, c_int> {
    before(0, Effect::None);
    let thread = &ALL[number];
    if number == engine::current() {
        return Err(EDEADLK);
    }
    if thread.joiner.load(Relaxed) != NOBODY {
        return Err(EINVAL);
    }
    thread.joiner.store(engine::current(), Relaxed);
    let ended = loop {
        match thread.state.load(Relaxed) {
            ENDED => break Ok(thread.result.load(Relaxed)),
            JOINABLE => {}
            _ => break Err(EINVAL),
        }
        if engine::block(JOINS + number, Wait::Join, deadline) == Woken::Timeout {
            break Err(ETIMEDOUT);
        }
    };
    thread.joiner.store(NOBODY, Relaxed);
    if ended.is_ok() {
        acquires(JOINS + number);
        thread.release();
    }
    ended
}

/// Waits for the end of any thread, also of one that was started outside of control.
pub(super) fn join(pthread: pthread_t, deadline: Option<u64>) -> Result<*mut c_void, c_int> {
    if let Some(number) = engine::thread_of(pthread) {
        return wait_for(number, deadline);
    }
    let mut result = ptr::null_mut();
    // SAFETY: the caller's descriptor, and room for the result.
    match unsafe { real::pthread_tryjoin_np(pthread, &mut result) } {
        0 => Ok(result),
        EBUSY => engine::cannot_control("a wait for a thread that was started outside of a round"),
        error => Err(error),
    }
}

/// # Safety
/// `into` is null or has room for a result.
unsafe fn answer(joined: Result<*mut c_void, c_int>, into: *mut *mut c_void) -> c_int {
    match joined {
        Ok(result) => {
            if !into.is_null() {
                // SAFETY: where the caller wants the result.
                unsafe { *into = result };
            }
            0
        }
        Err(error) => error,
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_join(pthread: pthread_t, into: *mut *mut c_void) -> c_int {
    outside_control!(pthread_join(pthread, into));
    // SAFETY: where the caller wants the result.
    unsafe { answer(join(pthread, None), into) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_timedjoin_np(
    pthread: pthread_t,
    into: *mut *mut c_void,
    until: *const timespec,
) -> c_int {
    outside_control!(pthread_timedjoin_np(pthread, into, until));
    // SAFETY: the caller's arguments.
    unsafe { join_until(pthread, into, libc::CLOCK_REALTIME, until) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_clockjoin_np(
    pthread: pthread_t,
    into: *mut *mut c_void,
    clock: clockid_t,
    until: *const timespec,
) -> c_int {
    outside_control!(pthread_clockjoin_np(pthread, into, clock, until));
    // SAFETY: the caller's arguments.
    unsafe { join_until(pthread, into, clock, until) }
}

/// # Safety
/// As for `pthread_clockjoin_np`.
unsafe fn join_until(
    pthread: pthread_t,
    into: *mut *mut c_void,
    clock: clockid_t,
    until: *const timespec,
) -> c_int {
    // SAFETY: the caller's time, null for none, and where it wants the result.
    unsafe {
        let deadline = if until.is_null() { Ok(None) } else { time::deadline(clock, until) };
        deadline.map_or_else(|error| error, |deadline| answer(join(pthread, deadline), into))
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_tryjoin_np(pthread: pthread_t, into: *mut *mut c_void) -> c_int {
    outside_control!(pthread_tryjoin_np(pthread, into));
    match engine::thread_of(pthread).map(|number| &ALL[number]) {
        Some(thread) if thread.state.load(Relaxed) == JOINABLE => {
            before(0, Effect::None);
            EBUSY
        }
        // SAFETY: where the caller wants the result.
        _ => unsafe { answer(join(pthread, None), into) },
    }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn pthread_detach(pthread: pthread_t) -> c_int {
    outside_control!(pthread_detach(pthread));
    let Some(number) = engine::thread_of(pthread) else {
        // SAFETY: the caller's descriptor, of a thread that the C library started.
        return unsafe { real::pthread_detach(pthread) };
    };
    match ALL[number].state.load(Relaxed) {
        JOINABLE => ALL[number].state.store(DETACHED, Relaxed),
        ENDED => ALL[number].release(),
        _ => return EINVAL,
    }
    0
}

/// The C library knows the carrier's stack, not that of the virtual thread.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_getattr_np(
    pthread: pthread_t,
    attributes: *mut pthread_attr_t,
) -> c_int {
    // SAFETY: the caller's arguments.
    let error = unsafe { real::pthread_getattr_np(pthread, attributes) };
    match engine::thread_of(pthread).filter(|_| engine::controls() && error == 0) {
        None => error,
        // SAFETY: attributes that were just made; the stack is the thread's.
        Some(thread) => unsafe {
            let stack = layout::stack_end(thread) - STACK_BYTES;
            let stack = ptr::with_exposed_provenance_mut(stack);
            libc::pthread_attr_setstack(attributes, stack, STACK_BYTES)
        },
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_cancel(pthread: pthread_t) -> c_int {
    outside_control!(pthread_cancel(pthread));
    engine::cannot_control("pthread_cancel")
}

/// Registers the destructor of a thread-local object. Compilers emit calls of it.
#[unsafe(no_mangle)]
unsafe extern "C" fn __cxa_thread_atexit(
    destructor: Destructor,
    object: *mut c_void,
    library: *mut c_void,
) -> c_int {
    // SAFETY: the caller's arguments. The C++ library does no more than this either.
    unsafe { __cxa_thread_atexit_impl(destructor, object, library) }
}

/// The same by the name that the C++ library and Rust's use.
#[unsafe(no_mangle)]
unsafe extern "C" fn __cxa_thread_atexit_impl(
    destructor: Destructor,
    object: *mut c_void,
    library: *mut c_void,
) -> c_int {
    outside_control!(__cxa_thread_atexit_impl(destructor, object, library));
    let number = engine::current();
    let thread = &ALL[number];
    let at = thread.pending.load(Relaxed);
    let Some(pending) = DESTRUCTORS[number].get(at) else {
        engine::cannot_control("a thread with more than 4096 thread-local objects");
    };
    USED.fetch_or(1 << number, Relaxed);
    pending.destructor.store(destructor as *mut c_void, Relaxed);
    pending.object.store(object, Relaxed);
    thread.pending.store(at + 1, Relaxed);
    0
}
