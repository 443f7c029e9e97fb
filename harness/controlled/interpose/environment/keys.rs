//! `pthread_key_*`: values of each virtual thread, and the destructors at its end. Keys made under
//! control have numbers of their own, above the C library's. A key made outside of it (while the
//! target was loaded) stays the C library's; what threads under control set it to is kept here, as
//! their destructors must run when a virtual thread ends, which the C library knows nothing of.
//!
//! What a round leaves ends with it: values, and the keys it made, as the static variables that
//! held their numbers are put back.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Ordering::Relaxed};

use libc::{EAGAIN, EINVAL, c_int, pthread_key_t};

use super::{OUTSIDE, THREADS, engine, real, row};

pub(super) type Destructor = unsafe extern "C-unwind" fn(*mut c_void);

/// Keys of the C library that are watched; a process has few.
const REAL_KEYS: usize = 256;
/// Keys that exist at once under control, as many as glibc grants.
const OWN_KEYS: usize = 1024;
const KEYS: usize = REAL_KEYS + OWN_KEYS;
/// Number of the first own key; glibc's end at 1024.
const OWN_FIRST: pthread_key_t = 1 << 16;
/// Times that the destructors run as long as they set values anew (PTHREAD_DESTRUCTOR_ITERATIONS).
const PASSES: usize = 4;

struct Key {
    /// Odd while the key exists; a value of another number is one of an earlier key.
    number: AtomicU32,
    destructor: AtomicPtr<c_void>,
    values: [Value; THREADS + 1],
}

struct Value {
    /// Of the key, and of the thread, when it was set.
    key: AtomicU32,
    life: AtomicU32,
    pointer: AtomicPtr<c_void>,
}

static ALL: [Key; KEYS] = [const {
    Key {
        number: AtomicU32::new(0),
        destructor: AtomicPtr::new(ptr::null_mut()),
        values: [const {
            Value {
                key: AtomicU32::new(0),
                life: AtomicU32::new(0),
                pointer: AtomicPtr::new(ptr::null_mut()),
            }
        }; THREADS + 1],
    }
}; KEYS];

/// One past the last key that ever existed.
static KEYS_END: AtomicUsize = AtomicUsize::new(0);

/// Values other than null that a thread has set: mostly there are none to destroy.
static SET: [AtomicU32; THREADS] = [const { AtomicU32::new(0) }; THREADS];

/// Counts the threads that had this number.
static LIVES: [AtomicU32; THREADS + 1] = [const { AtomicU32::new(0) }; THREADS + 1];

/// A value was set since the last [`reset`].
static USED: AtomicBool = AtomicBool::new(false);

/// A thread of this number begins: it has no values.
pub(super) fn begin_life(thread: usize) {
    LIVES[thread].fetch_add(1, Relaxed);
    if let Some(set) = SET.get(thread) {
        set.store(0, Relaxed);
    }
}

impl Key {
    fn exists(&self) -> bool {
        self.number.load(Relaxed) % 2 == 1
    }

    /// The key begins to exist, unless it does.
    fn make(&self, at: usize, destructor: Option<Destructor>) -> bool {
        let number = self.number.load(Relaxed);
        let made = number.is_multiple_of(2)
            && self.number.compare_exchange(number, number + 1, Relaxed, Relaxed).is_ok();
        if made {
            let destructor = destructor.map_or(ptr::null_mut(), |d| d as *mut c_void);
            self.destructor.store(destructor, Relaxed);
            KEYS_END.fetch_max(at + 1, Relaxed);
        }
        made
    }

    fn end(&self) {
        if self.exists() {
            self.number.fetch_add(1, Relaxed);
        }
    }

    fn get(&self, thread: usize) -> *mut c_void {
        let value = &self.values[thread];
        let current = value.key.load(Relaxed) == self.number.load(Relaxed)
            && value.life.load(Relaxed) == LIVES[thread].load(Relaxed);
        if current { value.pointer.load(Relaxed) } else { ptr::null_mut() }
    }

    fn set(&self, thread: usize, pointer: *mut c_void) {
        USED.store(true, Relaxed);
        let value = &self.values[thread];
        if let (false, Some(set)) = (pointer.is_null(), SET.get(thread)) {
            set.fetch_add(1, Relaxed);
        }
        value.pointer.store(pointer, Relaxed);
        value.key.store(self.number.load(Relaxed), Relaxed);
        value.life.store(LIVES[thread].load(Relaxed), Relaxed);
    }

    /// Runs the destructor on the thread's value, if it has both.
    fn destroy(&self, thread: usize) {
        let pointer = if self.exists() { self.get(thread) } else { ptr::null_mut() };
        let destructor = self.destructor.load(Relaxed);
        if pointer.is_null() || destructor.is_null() {
            return;
        }
        self.set(thread, ptr::null_mut());
        // SAFETY: stored from a destructor by `make`.
        let destructor = unsafe { std::mem::transmute::<*mut c_void, Destructor>(destructor) };
        // SAFETY: the value was set for this key, whose destructor it is.
        unsafe { destructor(pointer) };
    }
}

/// The watched key of this number; none: all is left to the C library.
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
        match (REAL_KEYS..KEYS).find(|&at| ALL[at].make(at, destructor)) {
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
            key.make(number as usize, destructor);
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
        Some(key) => key.end(),
        None if own => return EINVAL,
        None => {}
    }
    // SAFETY: the caller's key, which the C library made.
    if own { 0 } else { unsafe { real::pthread_key_delete(number) } }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn pthread_getspecific(number: pthread_key_t) -> *mut c_void {
    match find(number) {
        Some(key) if engine::controls() || number >= OWN_FIRST => key.get(row()),
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
            key.set(row(), pointer.cast_mut());
            0
        }
        _ if number >= OWN_FIRST => EINVAL,
        // SAFETY: the caller's key, which the C library made, or one that it refuses.
        _ => unsafe { real::pthread_setspecific(number, pointer) },
    }
}

/// Forgets all values, and the keys that were made under control.
pub(super) fn reset() {
    let made = REAL_KEYS..KEYS_END.load(Relaxed).max(REAL_KEYS);
    ALL[made].iter().for_each(Key::end);
    if USED.swap(false, Relaxed) {
        (0..=OUTSIDE).for_each(begin_life);
    }
}
