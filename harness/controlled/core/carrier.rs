//! What virtual threads run on. Each has a stack at a fixed address, and the thread-local storage
//! (fs base) of a real thread that is parked for good, so `thread_local`, errno, exceptions and
//! `pthread_self` are its own. With fibers, one operating-system thread jumps from stack to stack;
//! with threads, the parked thread that holds the only token runs its own stack. Both use the same
//! stacks, so addresses are the same.

use std::ffi::c_void;
use std::io;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use interlap::core::plan;
use interlap::schedule::THREADS_MAX;

use super::callbacks::callbacks;
use super::layout;

/// The thread that starts rounds, outside of control.
pub const OUTSIDE: usize = THREADS_MAX;

/// Where a thread that does not run resumes.
struct Context {
    stack_pointer: AtomicUsize,
    /// Thread-local storage.
    fs: AtomicUsize,
    pthread: AtomicUsize,
    /// Stack pointer of the loop in which its real thread waits.
    parked: AtomicUsize,
    /// 1: may run (threads only).
    token: AtomicU32,
    /// Which thread gets the token when this one has ended.
    heir: AtomicUsize,
}

static CONTEXTS: [Context; THREADS_MAX + 1] = [const {
    Context {
        stack_pointer: AtomicUsize::new(0),
        fs: AtomicUsize::new(0),
        pthread: AtomicUsize::new(0),
        parked: AtomicUsize::new(0),
        token: AtomicU32::new(0),
        heir: AtomicUsize::new(OUTSIDE),
    }
}; THREADS_MAX + 1];

/// The first function of every thread.
static FIRST: OnceLock<fn() -> !> = OnceLock::new();

/// Threads that are parked so far.
static PARKED: AtomicUsize = AtomicUsize::new(0);

core::arch::global_asm!(
    // il_jump(save: *mut usize, stack_pointer: usize, fs: usize)
    ".globl il_jump",
    "il_jump:",
    "push rbp; push rbx; push r12; push r13; push r14; push r15",
    "mov [rdi], rsp",
    "mov rsp, rsi",
    "wrfsbase rdx",
    "pop r15; pop r14; pop r13; pop r12; pop rbx; pop rbp",
    "ret",
    // Where a fresh stack begins: the frame pointer is 0 and nothing is above, so that unwinders
    // and debuggers stop here.
    ".globl il_begin",
    "il_begin:",
    ".cfi_startproc",
    ".cfi_undefined rip",
    "xor ebp, ebp",
    "call {entry}",
    "ud2",
    ".cfi_endproc",
    entry = sym entry,
);

unsafe extern "C" {
    fn il_jump(save: *mut usize, stack_pointer: usize, fs: usize);
    fn il_begin();
}

/// A way to run virtual threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    Fiber,
    Thread,
}

impl Carrier {
    /// `first` is the first function of every thread. Fails where the processor or the kernel does
    /// not let programs set the fs base.
    pub fn choose(wish: plan::Carrier, first: fn() -> !) -> io::Result<Carrier> {
        // Bit 1 of AT_HWCAP2: FSGSBASE is enabled (Documentation/arch/x86/x86_64/fsgs.rst).
        // SAFETY: getauxval only reads.
        let usable = unsafe { libc::getauxval(libc::AT_HWCAP2) } & 2 != 0;
        if !usable {
            let what = "this kernel or processor has no FSGSBASE (Linux 5.9, Ivy Bridge)";
            return Err(io::Error::other(what));
        }
        let _ = FIRST.set(first);
        let outside = &CONTEXTS[OUTSIDE];
        // SAFETY: pthread_self has no preconditions; on x86-64 it is the fs base.
        outside.fs.store(unsafe { libc::pthread_self() } as usize, Ordering::Relaxed);
        Ok(match wish {
            plan::Carrier::Fiber => Carrier::Fiber,
            plan::Carrier::Thread => Carrier::Thread,
        })
    }

    /// Prepares a thread to begin when it is next switched to.
    pub fn prepare(self, thread: usize) -> io::Result<()> {
        while PARKED.load(Ordering::Acquire) <= thread {
            park_another(self)?;
        }
        (callbacks().renew_variables)(thread);
        let top = layout::stack_end(thread) - 64;
        let frame = ptr::with_exposed_provenance_mut::<usize>(top - 7 * 8);
        // SAFETY: inside the thread's stack, which nobody runs on: it has not begun or has ended.
        unsafe {
            for register in 0..6 {
                frame.add(register).write(0);
            }
            frame.add(6).write(il_begin as *const () as usize);
        }
        CONTEXTS[thread].stack_pointer.store(top - 7 * 8, Ordering::Relaxed);
        Ok(())
    }

    /// Switches to `to`; returns when `from` is switched to.
    pub fn switch(self, from: usize, to: usize) {
        let (own, other) = (&CONTEXTS[from], &CONTEXTS[to]);
        match self {
            Carrier::Fiber => {
                let stack_pointer = other.stack_pointer.load(Ordering::Relaxed);
                let fs = other.fs.load(Ordering::Relaxed);
                // SAFETY: `other` was prepared or left by a jump, and its storage is that of a
                // parked thread or of the one outside; all state of `from` is saved where
                // `stack_pointer` says.
                unsafe { il_jump(own.stack_pointer.as_ptr(), stack_pointer, fs) }
            }
            Carrier::Thread => {
                give_token(to);
                await_token(from);
            }
        }
    }

    /// Switches from `from`, which has ended, to `to`.
    pub fn switch_after_end(self, from: usize, to: usize) -> ! {
        match self {
            Carrier::Fiber => self.switch(from, to),
            Carrier::Thread => {
                let own = &CONTEXTS[from];
                own.heir.store(to, Ordering::Relaxed);
                let (parked, fs) =
                    (own.parked.load(Ordering::Relaxed), own.fs.load(Ordering::Relaxed));
                // SAFETY: this is the operating-system thread of `from`, whose waiting loop was
                // left by the jump in `wait_parked`.
                unsafe { il_jump(own.stack_pointer.as_ptr(), parked, fs) }
            }
        }
        unreachable!("a thread that has ended is not switched to")
    }
}

/// The outermost function on a virtual thread's stack. An uncaught exception finds the end of the
/// stack above it, and ends the process as on any thread.
extern "C-unwind" fn entry() -> ! {
    FIRST.get().expect("a carrier was chosen")()
}

fn give_token(to: usize) {
    let token = &CONTEXTS[to].token;
    token.store(1, Ordering::Release);
    let _ = rustix::thread::futex::wake(token, rustix::thread::futex::Flags::PRIVATE, 1);
}

fn await_token(thread: usize) {
    let token = &CONTEXTS[thread].token;
    while token.swap(0, Ordering::Acquire) == 0 {
        let flags = rustix::thread::futex::Flags::PRIVATE;
        let _ = rustix::thread::futex::wait(token, flags, 0, None);
    }
}

/// What `pthread_self` gives on this thread.
pub fn pthread(thread: usize) -> libc::pthread_t {
    CONTEXTS[thread].pthread.load(Ordering::Relaxed) as libc::pthread_t
}

/// The virtual thread with this descriptor.
pub fn thread_of(pthread: libc::pthread_t) -> Option<usize> {
    let parked = PARKED.load(Ordering::Acquire);
    (0..parked).find(|thread| self::pthread(*thread) == pthread)
}

/// Starts the next real thread, on a stack at a fixed address, and waits until it is parked.
fn park_another(carrier: Carrier) -> io::Result<()> {
    let thread = PARKED.load(Ordering::Acquire);
    // SAFETY: plain calls of pthread functions on values made here. The stack is mapped, unused
    // and stays; all signals are blocked around the creation, so that the new thread takes none.
    let error = unsafe {
        let mut attributes: libc::pthread_attr_t = std::mem::zeroed();
        libc::pthread_attr_init(&mut attributes);
        let stack = ptr::with_exposed_provenance_mut(layout::carrier_stack(thread));
        libc::pthread_attr_setstack(&mut attributes, stack, layout::CARRIER_BYTES);
        let (mut all, mut old) = std::mem::zeroed();
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut old);
        let mut pthread = 0;
        // The lowest bit: it will run the target, and so take its signals.
        let runs = usize::from(carrier == Carrier::Thread);
        let argument = ptr::without_provenance_mut(thread << 1 | runs);
        let error = libc::pthread_create(&mut pthread, &attributes, wait_parked, argument);
        libc::pthread_sigmask(libc::SIG_SETMASK, &old, ptr::null_mut());
        libc::pthread_attr_destroy(&mut attributes);
        error
    };
    if error != 0 {
        return Err(io::Error::from_raw_os_error(error));
    }
    while PARKED.load(Ordering::Acquire) == thread {
        std::thread::yield_now();
    }
    Ok(())
}

/// Names the running thread for debuggers and /proc.
fn name(thread: usize) {
    let name = std::ffi::CString::new(format!("thread {thread}")).expect("it has no NUL");
    // The name is a convenience only.
    let _ = rustix::thread::set_name(&name);
}

/// A parked thread: lends its thread-local storage, and with [`Carrier::Thread`] itself.
extern "C" fn wait_parked(argument: *mut c_void) -> *mut c_void {
    let (thread, runs) = (argument.addr() >> 1, argument.addr() & 1 != 0);
    let own = &CONTEXTS[thread];
    (callbacks().place_variables)(thread);
    // SAFETY: pthread_self has no preconditions.
    let pthread = unsafe { libc::pthread_self() } as usize;
    own.pthread.store(pthread, Ordering::Relaxed);
    own.fs.store(pthread, Ordering::Relaxed);
    if runs {
        name(thread);
        // SAFETY: a signal set made here.
        unsafe {
            let mut none = std::mem::zeroed();
            libc::sigemptyset(&mut none);
            libc::pthread_sigmask(libc::SIG_SETMASK, &none, ptr::null_mut());
        }
    }
    PARKED.store(thread + 1, Ordering::Release);
    loop {
        await_token(thread);
        let stack_pointer = own.stack_pointer.load(Ordering::Relaxed);
        // SAFETY: the token came, so this thread's stack was prepared and nobody runs on it. It
        // comes back here by `leave`.
        unsafe { il_jump(own.parked.as_ptr(), stack_pointer, pthread) };
        give_token(own.heir.load(Ordering::Relaxed));
    }
}
