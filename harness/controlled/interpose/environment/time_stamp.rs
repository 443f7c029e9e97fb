//! The processor's time stamp counter, which shows virtual time in a round, like every other clock.
//! The kernel makes `rdtsc` fault on threads that ask for that (prctl(2), PR_SET_TSC), and the
//! handler here emulates it. Where the kernel refuses, targets read the real counter, and rounds
//! may differ between runs.

use std::sync::atomic::{AtomicBool, Ordering};

use libc::{c_int, c_void, siginfo_t, ucontext_t};

use crate::controlled::accesses;
use crate::controlled::core::engine;
use crate::controlled::watch::libraries;
use crate::fault;

/// Of prctl(2).
const READABLE: libc::c_ulong = 1;
const FAULTS: libc::c_ulong = 2;

/// Installs the handler; it passes real faults on to [`fault::note`].
pub fn install() {
    // SAFETY: sigaction with a zeroed structure, a handler of the SA_SIGINFO form and an empty
    // mask; Rust's runtime gives every thread an alternate stack.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_fault as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigemptyset(&mut action.sa_mask);
        libc::sigaction(libc::SIGSEGV, &action, std::ptr::null_mut());
    }
}

/// Makes the counter virtual for this thread and those that it starts, if the target may read it.
/// It stays so between rounds, because each change takes up to 10 us. What the harness itself
/// reads there gets the real counter, but slowly.
pub fn make_virtual() {
    if IS_READ.load(Ordering::Relaxed) {
        set_virtual(true);
    }
}

fn set_virtual(on: bool) {
    // SAFETY: takes plain numbers; what faults then is handled by `on_fault`.
    unsafe { libc::prctl(libc::PR_SET_TSC, if on { FAULTS } else { READABLE }) };
}

/// Runs on the faulting thread, on its alternate stack, so it must not switch threads.
extern "C" fn on_fault(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel's description of the signal.
    let privileged = unsafe { (*info).si_code } == libc::SI_KERNEL;
    // SAFETY: the third argument of an SA_SIGINFO handler is a ucontext_t.
    let registers = unsafe { &mut (*context.cast::<ucontext_t>()).uc_mcontext.gregs };
    let at = registers[libc::REG_RIP as usize];
    let length = if privileged { counter_read_length(at) } else { 0 };
    if length == 0 {
        // SAFETY: the default action, so that the signal that `note` raises ends the process.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
        return fault::note(signal, info, context);
    }
    let counter = counter();
    registers[libc::REG_RAX as usize] = (counter & 0xffff_ffff) as i64;
    registers[libc::REG_RDX as usize] = (counter >> 32) as i64;
    if length == 3 {
        // The processor's number, as the kernel sets it.
        registers[libc::REG_RCX as usize] = 0;
    }
    registers[libc::REG_RIP as usize] += length;
}

/// Some code of the target seems to read the counter. The C++ library is left out: it reads it for
/// random numbers only, which are interposed.
static IS_READ: AtomicBool = AtomicBool::new(false);

/// Looks through the target's code; it has just been loaded.
pub fn find_reads() {
    let is_read = libraries::code_beside_system().into_iter().any(is_read_by);
    IS_READ.store(is_read, Ordering::Relaxed);
}

/// Whether the code contains the bytes of `rdtsc` or `rdtscp`, if only by chance.
fn is_read_by(code: &[u8]) -> bool {
    code.windows(3).any(|bytes| matches!(bytes, [0x0f, 0x31, _] | [0x0f, 0x01, 0xf9]))
}

/// Length of the instruction if it is `rdtsc` or `rdtscp`, else 0.
fn counter_read_length(at: i64) -> i64 {
    // A fault of this kind at an address that no program has comes of a jump there.
    if at <= 0 || at >> 47 != 0 {
        return 0;
    }
    let code: *const u8 = std::ptr::with_exposed_provenance(at as usize);
    // SAFETY: the processor has fetched the instruction there, of which no byte is read beyond
    // those that decide.
    unsafe {
        match (*code, *code.add(1)) {
            (0x0f, 0x31) => 2,
            (0x0f, 0x01) if *code.add(2) == 0xf9 => 3,
            _ => 0,
        }
    }
}

/// Nanoseconds of virtual time; the real counter for the harness's own code.
fn counter() -> u64 {
    if engine::controls() {
        accesses::stamp();
        return engine::now();
    }
    set_virtual(false);
    // SAFETY: reads the counter, which is readable now.
    let counter = unsafe { core::arch::x86_64::_rdtsc() };
    set_virtual(true);
    counter
}
