//! Notes a fatal signal in the record area, and then lets it end the process, so that the main
//! program sees both the note and the true exit status. Also sets the limits that keep a broken
//! target from exhausting the machine.

use std::cell::Cell;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use interlap::trace::area;

use crate::record::Area;

const FATAL: [i32; 6] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGABRT, libc::SIGTRAP];

/// First word of the area's header.
static HEADER: AtomicPtr<AtomicU64> = AtomicPtr::new(ptr::null_mut());

/// What [`allowed`] said before the target was loaded.
static ALLOWED: OnceLock<([u64; 5], u32)> = OnceLock::new();

thread_local! {
    /// Number of this thread in the round. Constant-initialised, so that the signal handler may
    /// read it.
    static THREAD: Cell<u64> = const { Cell::new(area::NO_THREAD) };
}

/// Sets which thread of the round this is, for the handler.
pub fn set_thread(thread: u32) {
    THREAD.set(thread.into());
}

/// Which thread of the round this is, if it is one.
pub fn thread() -> Option<u64> {
    Some(THREAD.get()).filter(|thread| *thread != area::NO_THREAD)
}

/// Notes fatal signals in `area` from now on. Its header must stay where it is.
pub fn watch(area: &Area) {
    HEADER.store(ptr::from_ref(area.word(0)).cast_mut(), Ordering::Release);
}

/// Installs the handlers.
pub fn install() {
    for signal in FATAL {
        // SAFETY: sigaction with a zeroed structure, a handler of the SA_SIGINFO form and an
        // empty mask; Rust's runtime gives every thread an alternate stack.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = note as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESETHAND;
            libc::sigemptyset(&mut action.sa_mask);
            libc::sigaction(signal, &action, ptr::null_mut());
        }
    }
}

/// The thread for whose signal the process ends.
static ENDING: AtomicU64 = AtomicU64::new(0);

/// Whether this is the first signal that ends the process. If there is one of another thread, waits
/// for the end. If there is one of this thread, looking at its stack has faulted: ends the process
/// for that one.
fn is_first() -> bool {
    // Not through the C library, whose function is interposed.
    let me = rustix::thread::gettid().as_raw_nonzero().get() as u64;
    match ENDING.compare_exchange(0, me, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => return true,
        Err(ending) if ending != me => wait_for_end(),
        Err(_) => {}
    }
    let signal = word(area::WORD_SIGNAL).map_or(0, |signal| signal.load(Ordering::Relaxed)) as i32;
    // SAFETY: async-signal-safe functions with structures made here. The handler of this signal is
    // under way, so it is blocked, and its action is the default one.
    unsafe {
        let mut signals: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut signals);
        libc::sigaddset(&mut signals, signal);
        libc::raise(signal);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &signals, ptr::null_mut());
    }
    false
}

/// Waits for the end of the process, which another thread brings about.
pub fn wait_for_end() -> ! {
    loop {
        // SAFETY: has no preconditions.
        unsafe { libc::pause() };
    }
}

/// Notes where the calling thread is in the target, unless the place of a throw is known.
fn note_stack() {
    let known = word(area::WORD_FAULT_STACK).is_none_or(|at| at.load(Ordering::Relaxed) != 0);
    if !known {
        let most = area::FAULT_STACK_MAX;
        crate::stacks::of_target(most, |frame, at| store(area::WORD_FAULT_STACK + frame, at));
    }
}

/// Runs on the faulting thread. All it does is async-signal-safe, except the controlled engine's
/// [`last_words`](crate::controlled::last_words), which come after what must be noted. SA_RESETHAND
/// has restored the default action, so the signal raised here ends the process when this returns.
pub extern "C" fn note(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    if !is_first() {
        return;
    }
    // SAFETY: the kernel's.
    let address = unsafe { (*info).si_addr() } as u64;
    store(area::WORD_ADDRESS, address);
    let of_memory = matches!(signal, libc::SIGSEGV | libc::SIGBUS);
    let address = if of_memory { address as usize } else { 0 };
    note_signal(signal, register(context, PROGRAM), address);
    if signal == libc::SIGSEGV && crate::controlled::is_stack_used_up(register(context, STACK)) {
        // Standard error ends up in the report.
        let words = b"fatal runtime error: stack overflow\n";
        // SAFETY: write is async-signal-safe; the bytes are there.
        unsafe { libc::write(2, words.as_ptr().cast(), words.len()) };
    }
    note_growth();
    note_stack();
    crate::marker::interlap_fault();
    // Under control, `raise` is interposed, and a scheduling point.
    crate::controlled::release();
    // SAFETY: raise is async-signal-safe.
    unsafe { libc::raise(signal) };
}

/// The target is about to send SIGKILL to its own process, which no handler sees. Not noted in a
/// forked child, which shares the header with its parent.
pub fn note_own_kill() {
    if !crate::forked::is_forked() {
        note_signal(libc::SIGKILL, 0, 0);
        note_growth();
        crate::marker::interlap_fault();
    }
}

/// Ends the process for what the target did to it. The note lies in the area, because the pipe may
/// be what is harmed.
pub fn end_for(why: area::Ended) -> ! {
    store(area::WORD_THREAD, THREAD.get());
    store(area::WORD_ENDED, why as u64);
    crate::controlled::last_words(0, 0);
    crate::controlled::release();
    // SAFETY: ends the process at once: exit handlers of the target could crash or wait.
    unsafe { libc::_exit(2) }
}

/// Whether interlap calls the structure on this thread, which the target then must not end.
pub fn is_round_thread() -> bool {
    thread().is_some()
}

/// This signal is about to end the process: for an access to `address`, or 0, by the code at
/// `program`.
fn note_signal(signal: i32, program: u64, address: usize) {
    store(area::WORD_PC, program);
    store(area::WORD_THREAD, THREAD.get());
    store(area::WORD_SIGNAL, signal as u64);
    if let Some(place) = crate::controlled::last_words(signal, address) {
        store(area::WORD_PC, place);
    }
}

/// Sets a word of the header, if there is one.
pub fn store(at: usize, value: u64) {
    if let Some(word) = word(at) {
        word.store(value, Ordering::Release);
    }
}

/// A word of the header, if there is one.
pub fn word(at: usize) -> Option<&'static AtomicU64> {
    assert!(at < area::WORDS);
    let header = HEADER.load(Ordering::Acquire);
    // SAFETY: points to the header's words, mapped for the process's life.
    (!header.is_null()).then(|| unsafe { &*header.add(at) })
}

/// Notes whether the process has grown so much that a fault may not be the target's. Safe in a
/// signal handler.
pub fn note_growth() {
    if crate::controlled::growth::is_grown() {
        store(area::WORD_GROWN, 1);
    }
}

/// Where an interrupted thread goes on, the top of its stack, and what its system call returned and
/// was given.
#[cfg(target_arch = "x86_64")]
mod registers {
    pub const PROGRAM: i32 = libc::REG_RIP;
    pub const STACK: i32 = libc::REG_RSP;
    pub const RESULT: i32 = libc::REG_RAX;
    pub const FIRST_ARGUMENT: i32 = libc::REG_RDI;
}

#[cfg(not(target_arch = "x86_64"))]
mod registers {
    pub const PROGRAM: i32 = 0;
    pub const STACK: i32 = 0;
    pub const RESULT: i32 = 0;
    pub const FIRST_ARGUMENT: i32 = 0;
}

use registers::STACK;
pub use registers::{FIRST_ARGUMENT, PROGRAM, RESULT};

/// The value of a register; 0 where it is not known.
#[cfg(target_arch = "x86_64")]
pub fn register(context: *mut libc::c_void, which: i32) -> u64 {
    // SAFETY: the third argument of an SA_SIGINFO handler is a ucontext_t.
    unsafe { (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs[which as usize] as u64 }
}

#[cfg(not(target_arch = "x86_64"))]
pub fn register(_context: *mut libc::c_void, _which: i32) -> u64 {
    0
}

/// What the system allows this process: some limits, and as which user.
fn allowed() -> ([u64; 5], u32) {
    let most = |resource| {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: a valid place for a limit.
        unsafe { libc::getrlimit(resource, &mut limit) };
        limit.rlim_cur
    };
    use libc::{RLIMIT_AS, RLIMIT_DATA, RLIMIT_NOFILE, RLIMIT_NPROC, RLIMIT_STACK};
    let limits = [RLIMIT_AS, RLIMIT_DATA, RLIMIT_NOFILE, RLIMIT_NPROC, RLIMIT_STACK].map(most);
    (limits, rustix::process::geteuid().as_raw())
}

/// Whether the target has lowered a limit of this process, or changed its user. A library may well
/// raise one.
pub fn is_restricted() -> bool {
    let Some((limits, user)) = ALLOWED.get() else { return false };
    let (limits_now, user_now) = allowed();
    limits_now.iter().zip(limits).any(|(now, before)| now < before) || user_now != *user
}

/// Limits memory, disables core files, and has the process end with the main program.
pub fn limit(memory_mib_max: u64) {
    let set = |resource, bytes| {
        let limit = libc::rlimit { rlim_cur: bytes, rlim_max: bytes };
        // SAFETY: a valid rlimit. A refusal (a lower hard limit is in force) is harmless.
        unsafe { libc::setrlimit(resource, &limit) };
    };
    set(libc::RLIMIT_DATA, memory_mib_max << 20);
    set(libc::RLIMIT_CORE, 0);
    ALLOWED.get_or_init(allowed);
    // SAFETY: takes plain numbers.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
}

/// Anonymous memory of this process in bytes.
pub fn anonymous_bytes() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let mut pages = statm.split_whitespace().skip(1).map(|word| word.parse().unwrap_or(0));
    let (resident, shared): (u64, u64) = (pages.next().unwrap_or(0), pages.next().unwrap_or(0));
    resident.saturating_sub(shared) * rustix::param::page_size() as u64
}
