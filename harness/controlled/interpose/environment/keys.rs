//! `pthread_key_*`: values of each virtual thread, and their destructors at its end. Keys created
//! under control have numbers above the C library's. Keys created before, while the target was
//! loaded, stay the C library's, but virtual threads' values of them are kept here: the C library
//! does not see a virtual thread end.
//!
//! The values of a round, and the keys that it created, end with it.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Ordering::Relaxed};

use libc::{EAGAIN, EINVAL, c_int, pthread_key_t};

use super::real::{self, Destructor};
use super::thread_ids::{OUTSIDE, THREADS, current_or_outside};
use crate::controlled::accesses;
use crate::controlled::core::access::Synchronizes;
use crate::controlled::core::engine;
use crate::controlled::watch::libraries;

/// Keys of the C library whose values are kept here; a process has few.
const REAL_KEYS: usize = 256;
/// Keys that a round may have at once, as many as in glibc.
const OWN_KEYS: usize = 1024;
const KEYS: usize = REAL_KEYS + OWN_KEYS;
/// Number of the first own key; glibc's end at 1024.
const OWN_FIRST: pthread_key_t = 1 << 16;
/// Times that the destructors run as long as they set values anew (PTHREAD_DESTRUCTOR_ITERATIONS).
const PASSES: usize = 4;

struct Key {
    /// Odd while the key exists. Values of another generation are of an earlier key.
    generation: AtomicU32,
    destructor: AtomicPtr<c_void>,
    values: [Value; THREADS + 1],
}

struct Value {
    /// The generations of the key and of the thread when the value was set.
    of_key: AtomicU32,
    of_thread: AtomicU32,
    pointer: AtomicPtr<c_void>,
}

static ALL: [Key; KEYS] = [const {
    Key {
        generation: AtomicU32::new(0),
        destructor: AtomicPtr::new(ptr::null_mut()),
        values: [const {
            Value {
                of_key: AtomicU32::new(0),
                of_thread: AtomicU32::new(0),
                pointer: AtomicPtr::new(ptr::null_mut()),
            }
        }; THREADS + 1],
    }
}; KEYS];

/// One past the last key that ever existed.
static KEYS_END: AtomicUsize = AtomicUsize::new(0);

/// How many values other than null each thread has set: mostly none, so none to destroy.
static SET: [AtomicU32; THREADS] = [const { AtomicU32::new(0) }; THREADS];

/// Generation of each thread: counts the threads that had its number.
static GENERATIONS: [AtomicU32; THREADS + 1] = [const { AtomicU32::new(0) }; THREADS + 1];

/// A value was set since the last [`reset`].
static USED: AtomicBool = AtomicBool::new(false);

/// A thread of this number begins: it has no values.
pub(super) fn thread_begins(thread: usize) {
    GENERATIONS[thread].fetch_add(1, Relaxed);
    if let Some(set) = SET.get(thread) {
        set.store(0, Relaxed);
    }
}

impl Key {
    fn exists(&self) -> bool {
        self.generation.load(Relaxed) % 2 == 1
    }

    /// Creates the key with this index; false if it exists.
    fn create(&self, at: usize, destructor: Option<Destructor>) -> bool {
        let last = self.generation.load(Relaxed);
        let created = last.is_multiple_of(2)
            && self.generation.compare_exchange(last, last + 1, Relaxed, Relaxed).is_ok();
        if created {
            let destructor = destructor.map_or(ptr::null_mut(), |d| d as *mut c_void);
            self.destructor.store(destructor, Relaxed);
            KEYS_END.fetch_max(at + 1, Relaxed);
        }
        created
    }

    fn delete(&self) {
        if self.exists() {
            self.generation.fetch_add(1, Relaxed);
        }
    }

    fn get(&self, thread: usize) -> *mut c_void {
        let value = &self.values[thread];
        let current = value.of_key.load(Relaxed) == self.generation.load(Relaxed)
            && value.of_thread.load(Relaxed) == GENERATIONS[thread].load(Relaxed);
        if current { value.pointer.load(Relaxed) } else { ptr::null_mut() }
    }

    fn set(&self, thread: usize, pointer: *mut c_void) {
        USED.store(true, Relaxed);
        let value = &self.values[thread];
        if let (false, Some(set)) = (pointer.is_null(), SET.get(thread)) {
            set.fetch_add(1, Relaxed);
        }
        value.pointer.store(pointer, Relaxed);
        value.of_key.store(self.generation.load(Relaxed), Relaxed);
        value.of_thread.store(GENERATIONS[thread].load(Relaxed), Relaxed);
    }

    /// Runs the destructor on the thread's value, if it has both.
    fn destroy(&self, thread: usize) {
        let pointer = if self.exists() { self.get(thread) } else { ptr::null_mut() };
        let destructor = self.destructor.load(Relaxed);
        if pointer.is_null() || destructor.is_null() {
            return;
        }
        self.set(thread, ptr::null_mut());
        // SAFETY: stored from a destructor by `create`.
        let run = unsafe { std::mem::transmute::<*mut c_void, Destructor>(destructor) };
        if !libraries::is_target_code(destructor.addr()) {
            // The C++ library's makes futures ready, by atomic stores without hooks.
            accesses::synchronizes(Synchronizes::MeetsAll, 0);
        }
        // SAFETY: the value was set for this key, whose destructor it is.
        unsafe { run(pointer) };
    }
}

/// The key of this number, unless the C library alone knows it.
fn find(number: pthread_key_t) -> Option<&'static Key> {
    let at = match number.checked_sub(OWN_FIRST) {
        Some(own) => REAL_KEYS + own as usize,
        None if (number as usize) < REAL_KEYS => number as usize,
        None => return None,
    };
    ALL.get(at).filter(|key| key.exists())
}

/// Runs the destructors of the running thread's values.
pub(super) fn destroy_values() {
    let thread = engine::current();
    for _ in 0..PASSES {
        if SET[thread].swap(0, Relaxed) == 0 {
            return;
        }
        for key in &ALL[..KEYS_END.load(Relaxed)] {
            key.destroy(thread);
        }
    }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn pthread_key_create(
    into: *mut pthread_key_t,
    destructor: Option<Destructor>,
) -> c_int {
    let number = if engine::controls() {
        match (REAL_KEYS..KEYS).find(|&at| ALL[at].create(at, destructor)) {
            Some(at) => OWN_FIRST + (at - REAL_KEYS) as pthread_key_t,
            None => return EAGAIN,
        }
    } else {
        let mut number = 0;
        // SAFETY: the caller's destructor, and room for the number.
        match unsafe { real::pthread_key_create(&mut number, destructor) } {
            0 => {}
            error => return error,
        }
        if let Some(key) = ALL[..REAL_KEYS].get(number as usize) {
            key.create(number as usize, destructor);
        }
        number
    };
    // SAFETY: where the caller wants the number.
    unsafe { *into = number };
    0
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn pthread_key_delete(number: pthread_key_t) -> c_int {
    let own = number >= OWN_FIRST;
    match find(number) {
        Some(key) => key.delete(),
        None if own => return EINVAL,
        None => {}
    }
    // SAFETY: the caller's key, which the C library made.
    if own { 0 } else { unsafe { real::pthread_key_delete(number) } }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn pthread_getspecific(number: pthread_key_t) -> *mut c_void {
    match find(number) {
        Some(key) if engine::controls() || number >= OWN_FIRST => key.get(current_or_outside()),
        _ if number >= OWN_FIRST => ptr::null_mut(),
        // SAFETY: the caller's key, which the C library made, or one that it refuses.
        _ => unsafe { real::pthread_getspecific(number) },
    }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn pthread_setspecific(
    number: pthread_key_t,
    pointer: *const c_void,
) -> c_int {
    match find(number) {
        Some(key) if engine::controls() || number >= OWN_FIRST => {
            key.set(current_or_outside(), pointer.cast_mut());
            0
        }
        _ if number >= OWN_FIRST => EINVAL,
        // SAFETY: the caller's key, which the C library made, or one that it refuses.
        _ => unsafe { real::pthread_setspecific(number, pointer) },
    }
}

/// Forgets all values, and the keys that were created under control.
pub(super) fn reset() {
    let created = REAL_KEYS..KEYS_END.load(Relaxed).max(REAL_KEYS);
    ALL[created].iter().for_each(Key::delete);
    if USED.swap(false, Relaxed) {
        (0..=OUTSIDE).for_each(thread_begins);
    }
}
