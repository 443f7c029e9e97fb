//! The queue of pending signals, with the values that they carry. As in the kernel, a real-time
//! signal is queued as often as it was sent, any other once, with its first value.

use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering::Relaxed};

use libc::{c_int, siginfo_t};

use super::real;

/// Signals that may be pending at once.
const QUEUED_MAX: usize = 1024;

/// The first real-time signal.
const REAL_TIME: c_int = 34;

/// A signal that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sent {
    pub signal: c_int,
    /// How it was sent: `SI_USER` and so on.
    pub code: c_int,
    pub value: usize,
}

struct Entry {
    to: AtomicUsize,
    signal: AtomicI32,
    code: AtomicI32,
    value: AtomicUsize,
}

/// In the order in which they were sent.
static ENTRIES: [Entry; QUEUED_MAX] = [const {
    Entry {
        to: AtomicUsize::new(0),
        signal: AtomicI32::new(0),
        code: AtomicI32::new(0),
        value: AtomicUsize::new(0),
    }
}; QUEUED_MAX];
static COUNT: AtomicUsize = AtomicUsize::new(0);

impl Entry {
    fn set(&self, to: usize, sent: Sent) {
        self.to.store(to, Relaxed);
        self.signal.store(sent.signal, Relaxed);
        self.code.store(sent.code, Relaxed);
        self.value.store(sent.value, Relaxed);
    }

    fn sent(&self) -> Sent {
        let signal = self.signal.load(Relaxed);
        Sent { signal, code: self.code.load(Relaxed), value: self.value.load(Relaxed) }
    }

    fn is(&self, to: usize, signal: c_int) -> bool {
        self.to.load(Relaxed) == to && self.signal.load(Relaxed) == signal
    }
}

pub(super) fn reset() {
    COUNT.store(0, Relaxed);
}

fn entries() -> &'static [Entry] {
    &ENTRIES[..COUNT.load(Relaxed)]
}

/// Removes the signals to a thread.
pub(super) fn remove_all_to(to: usize) {
    while let Some(at) = entries().iter().position(|entry| entry.to.load(Relaxed) == to) {
        remove(at);
    }
}

/// Queues a signal to a thread; false if the queue is full. `pending`: the thread has this signal
/// pending already.
pub(super) fn push(to: usize, sent: Sent, pending: bool) -> bool {
    if pending && sent.signal < REAL_TIME {
        return true;
    }
    let at = COUNT.load(Relaxed);
    let Some(entry) = ENTRIES.get(at) else { return false };
    entry.set(to, sent);
    COUNT.store(at + 1, Relaxed);
    true
}

/// Removes the first signal of this number; also gives whether there is another.
pub(super) fn pop(to: usize, signal: c_int) -> (Option<Sent>, bool) {
    let mut at = entries().iter().enumerate().filter(|(_, entry)| entry.is(to, signal));
    let first = at.next().map(|(at, entry)| (at, entry.sent()));
    let more = at.next().is_some();
    if let Some((at, _)) = first {
        remove(at);
    }
    (first.map(|(_, sent)| sent), more)
}

fn remove(at: usize) {
    let last = COUNT.load(Relaxed) - 1;
    for to in at..last {
        ENTRIES[to].set(ENTRIES[to + 1].to.load(Relaxed), ENTRIES[to + 1].sent());
    }
    COUNT.store(last, Relaxed);
}

/// `siginfo_t` of a signal that a process sent.
#[repr(C)]
struct Info {
    signal: c_int,
    error: c_int,
    code: c_int,
    _room: c_int,
    process: libc::pid_t,
    user: libc::uid_t,
    value: usize,
}

impl Sent {
    pub(super) fn siginfo(self) -> siginfo_t {
        const _: () = assert!(size_of::<(Info, [u64; 12])>() <= size_of::<siginfo_t>());
        // SAFETY: a siginfo_t is made of integers, and that of a signal that was sent begins as
        // `Info` does; getpid and getuid have no preconditions.
        unsafe {
            let mut info: siginfo_t = std::mem::zeroed();
            let (process, user) = (libc::getpid(), libc::getuid());
            let Sent { signal, code, value } = self;
            let ours = Info { signal, error: 0, code, _room: 0, process, user, value };
            (&raw mut info).cast::<Info>().write(ours);
            info
        }
    }

    /// Has the kernel deliver it to the running thread, which does not block it.
    pub(super) fn deliver(self) {
        let info = self.siginfo();
        let send = libc::SYS_rt_tgsigqueueinfo;
        let signal = self.signal as usize;
        // SAFETY: numbers of this process and thread, and a siginfo_t that outlives the call.
        unsafe {
            let thread = real::syscall(libc::SYS_gettid, 0, 0, 0, 0, 0, 0) as usize;
            let process = libc::getpid() as usize;
            let info = (&raw const info).expose_provenance();
            if real::syscall(send, process, thread, signal, info, 0, 0) != 0 {
                real::raise(self.signal);
            }
        }
    }
}
