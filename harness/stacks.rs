//! Walks the stack of a thread. The main program asks by a signal where a harness hangs. With
//! native threads, each caller's handler then notes its stack in the record area; under control,
//! `controlled/watch/watchdog` answers.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

use interlap::trace::area;
use interlap::trace::frame::CodeRange;

use crate::{callers, fault};

/// By this signal the main program asks where the harness hangs.
pub const SIGNAL: c_int = libc::SIGPROF;

/// Frames that are walked at most.
const DEPTH_MAX: u32 = 64;

/// Answers of a callback to the unwinder.
const GO_ON: c_int = 0;
const STOP: c_int = 5;

unsafe extern "C" {
    /// Itanium C++ ABI, exception handling, 1.6.
    fn _Unwind_Backtrace(
        trace: extern "C" fn(*mut c_void, *mut c_void) -> c_int,
        argument: *mut c_void,
    ) -> c_int;
    fn _Unwind_GetIPInfo(frame: *mut c_void, before: *mut c_int) -> usize;
}

/// Walks the caller's stack from the inside out, as long as `wants_more` says so. It gets an
/// address inside of each frame's last instruction.
pub fn walk<F: FnMut(usize) -> bool>(wants_more: F) {
    let mut walk = (wants_more, 0u32);
    // SAFETY: `visit` is of the type that the unwinder wants, and `walk` outlives the call.
    unsafe { _Unwind_Backtrace(visit::<F>, (&raw mut walk).cast()) };
}

extern "C" fn visit<F: FnMut(usize) -> bool>(frame: *mut c_void, walk: *mut c_void) -> c_int {
    let mut before = 0;
    // SAFETY: the unwinder's frame, and what `walk` passed.
    let ((wants_more, depth), at) =
        unsafe { (&mut *walk.cast::<(F, u32)>(), _Unwind_GetIPInfo(frame, &mut before)) };
    *depth += 1;
    // An interrupted frame has the address of the instruction, others the one behind it. The
    // outermost one may have none.
    let inside = at.checked_sub(usize::from(before == 0));
    let goes_on = inside.is_some_and(wants_more) && *depth <= DEPTH_MAX;
    if goes_on { GO_ON } else { STOP }
}

/// Whether a thread was interrupted in a system call: right after the instruction, or before it if
/// the kernel restarts the call.
pub fn is_system_call(at: usize) -> bool {
    let (is_over, restarts) = system_call(at);
    is_over || restarts
}

/// Whether a system call lies before this address, and whether one lies at it.
fn system_call(at: usize) -> (bool, bool) {
    const SYSCALL: [u8; 2] = [0x0f, 0x05];
    // SAFETY: code is read where the thread was interrupted: an instruction lies there, in a
    // mapping of whole pages of which it is neither the first nor the last one.
    let code: [u8; 4] = unsafe { ptr::with_exposed_provenance::<[u8; 4]>(at - 2).read() };
    (code[..2] == SYSCALL, code[2..] == SYSCALL)
}

/// The code of the target's library: stacks have only addresses inside of it.
static CODE: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

/// The target has been loaded, and has this code.
pub fn note_target(code: Option<CodeRange>) {
    if let Some(code) = code {
        CODE[0].store(code.start as usize, Ordering::Relaxed);
        CODE[1].store(code.end as usize, Ordering::Relaxed);
    }
    // The first walk of a process sets up the unwinder, which is not safe in a signal handler.
    walk(|_| true);
}

/// Passes the addresses in the target's code on the caller's stack, the innermost first, with their
/// numbers; no more than `most`.
pub fn of_target(most: usize, mut take: impl FnMut(usize, u64)) {
    let code = CODE[0].load(Ordering::Relaxed)..CODE[1].load(Ordering::Relaxed);
    let mut frames = 0;
    walk(|at| {
        if code.contains(&at) && frames < most {
            take(frames, at as u64);
            frames += 1;
        }
        frames < most
    });
}

/// From now on native threads answer the main program.
pub fn answer() {
    // SAFETY: sigaction with a zeroed structure, a handler of the SA_SIGINFO form and an empty
    // mask. SA_RESTART: what a thread waits for is the same after the signal.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_signal as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
        libc::sigemptyset(&mut action.sa_mask);
        libc::sigaction(SIGNAL, &action, ptr::null_mut());
    }
}

/// The kernel chooses the thread that takes the main program's signal, which passes it to the
/// others. A thread that blocks it has no stack in the report. The unwinder finds its tables
/// without a lock (`_dl_find_object`). Where a C library lacks that and the thread waits for the
/// loader's lock, it does not answer either: the main program kills the process in any case, and
/// has read all else before it asked.
extern "C" fn on_signal(_signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the address of this thread's errno, which a system call below may change.
    let (errno, before) = unsafe { (libc::__errno_location(), *libc::__errno_location()) };
    // SAFETY: the kernel's.
    if unsafe { (*info).si_code } == libc::SI_USER {
        pass_on();
    } else {
        note(context);
    }
    // SAFETY: as above.
    unsafe { *errno = before };
}

/// The main thread creates, drains and destroys.
fn main_number() -> i32 {
    rustix::process::getpid().as_raw_nonzero().get()
}

fn pass_on() {
    let asked = || callers::all().chain([main_number()]);
    fault::store(area::WORD_ASKED, asked().count() as u64);
    asked().for_each(|thread| callers::signal(thread, SIGNAL));
}

/// Notes the stack of the calling thread.
fn note(context: *mut c_void) {
    let Some(answered) = fault::word(area::WORD_ANSWERED) else { return };
    let thread = match callers::own_number() == main_number() {
        true => fault::word(area::WORD_THREADS).map(|threads| threads.load(Ordering::Relaxed)),
        false => fault::thread(),
    };
    let Some(thread) = thread.filter(|thread| *thread <= area::THREADS_MAX as u64) else { return };
    let words = area::word_of_thread(thread as usize);
    of_target(area::STACK_MAX, |frame, at| fault::store(words + area::STACK_AT + frame, at));
    fault::store(words + area::DOES_AT, does(context));
    answered.fetch_add(1, Ordering::Release);
}

/// What the interrupted thread does, as a word of the record area.
fn does(context: *mut c_void) -> u64 {
    let (is_over, restarts) = system_call(fault::register(context, fault::PROGRAM) as usize);
    let result = fault::register(context, fault::RESULT);
    if restarts && result == libc::SYS_futex as u64 {
        return fault::register(context, fault::FIRST_ARGUMENT);
    }
    let is_interrupted = is_over && result as i64 == -i64::from(libc::EINTR);
    if restarts || is_interrupted { area::DOES_WAIT } else { area::DOES_RUN }
}
