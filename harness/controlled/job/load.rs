//! Loads the target so that it can be controlled: reserves memory at fixed addresses, registers the
//! engine's callbacks, loads the target, and takes a snapshot of its variables.

use std::io;
use std::path::Path;
use std::time::Duration;

use interlap::core::plan::Plan;
use interlap::trace::frame::Problem;

use super::last_words;
use crate::controlled::accesses;
use crate::controlled::core::callbacks::{self, Callbacks};
use crate::controlled::core::{control, engine, layout};
use crate::controlled::interpose::{environment, gate};
use crate::controlled::state::{globals_snapshot, heap, store_buffers};
use crate::controlled::watch::{backtrace, fault_report, libraries};
use crate::library::Target;

/// More than enough for a backtrace, and to send what a round has counted.
const SIGNAL_STACK_BYTES: usize = 512 << 10;

/// The functions of other rooms that the engine calls.
fn callbacks() -> Callbacks {
    Callbacks {
        place_variables: globals_snapshot::place_storage,
        renew_variables: globals_snapshot::renew,
        thread_begins: environment::signals::thread_begins,
        thread_ends: environment::threads::thread_ends,
        is_number_free: environment::threads::may_be_reused,
        take_signals: environment::signals::take,
        thread_runs: store_buffers::thread_runs,
        settle: |whose| accesses::settle(whose),
        made: |event, made| accesses::made(event, made),
        sees_all: libraries::are_all_instrumented,
        live_blocks: || heap::live().0,
        here: backtrace::here,
        holder: environment::holder,
        livelock: || fault_report::livelock(),
        deadlock: || fault_report::deadlock(),
        cannot_control: |what| {
            crate::pipe::abandon(Problem::uncontrolled(format!("the target uses {what}")))
        },
    }
}

/// Gives the calling thread, on which all fibers run, a stack for signals that has room for
/// [`last_words`].
fn widen_signal_stack() -> io::Result<()> {
    let memory = Box::leak(vec![0u8; SIGNAL_STACK_BYTES].into_boxed_slice());
    let stack = libc::stack_t {
        ss_sp: memory.as_mut_ptr().cast(),
        ss_flags: 0,
        ss_size: SIGNAL_STACK_BYTES,
    };
    // SAFETY: memory that stays, and of which nobody else knows.
    match unsafe { libc::sigaltstack(&stack, std::ptr::null_mut()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Loads the target so that it can be controlled; also gives the names of its uninstrumented
/// libraries.
pub fn load(library: &Path, plan: &Plan) -> Result<(Target, Vec<String>), Problem> {
    let cannot = |error: io::Error| Problem::uncontrolled(error);
    callbacks::register(callbacks());
    layout::reserve().map_err(cannot)?;
    widen_signal_stack().map_err(cannot)?;
    // SAFETY: a function of this program.
    unsafe { libc::atexit(last_words::at_exit) };
    heap::set_limit(plan.memory_mib_max);
    engine::set_carrier(plan.control.carrier).map_err(cannot)?;
    environment::time_stamp::install();
    environment::machine::set_uniform();
    // Loaded before the target, so that its own memory does not come from the arena.
    crate::library::load_cxx_library();
    libraries::note_system();
    set_up_unwinder();
    control::set_allocates(true);
    environment::set_loading_target(true);
    let threads = threads_now();
    let target = Target::load(library, plan.model.as_deref());
    control::set_allocates(false);
    environment::set_loading_target(false);
    let target = target?.map_functions(gate::wrap);
    if !(0..50).any(|_| no_more_than(threads)) {
        return Err(Problem::uncontrolled("a target that starts a thread when it is loaded"));
    }
    environment::environ::save();
    environment::process::save();
    environment::time_stamp::find_reads();
    let mapped = environment::mappings::in_use();
    globals_snapshot::take(mapped).map_err(Problem::uncontrolled)?;
    Ok((target, libraries::note_target(library)))
}

/// The first exception of a process sets up the compiler's library, through `pthread_once`. That
/// library's variables are not put back, so without this only the first round with an exception
/// would have those steps, and a finding of a later round would not recur alone.
fn set_up_unwinder() {
    let thrown = std::panic::catch_unwind(|| std::panic::resume_unwind(Box::new(())));
    debug_assert!(thrown.is_err());
}

/// Threads of this process.
fn threads_now() -> usize {
    std::fs::read_dir("/proc/self/task").map_or(0, |tasks| tasks.count())
}

/// Whether there are no more threads than this. If there are, waits a moment for one to end.
fn no_more_than(threads: usize) -> bool {
    let none = threads_now() <= threads;
    if !none {
        std::thread::sleep(Duration::from_millis(2));
    }
    none
}

/// A warning about uninstrumented libraries.
pub fn warning(uninstrumented: &[String]) -> Option<String> {
    if uninstrumented.is_empty() {
        return None;
    }
    let names = uninstrumented.join(", ");
    Some(format!(
        "the controlled engine is blind to the code of {names}, which was compiled without its \
         hooks: no thread is switched inside it. Compile the library's sources into the adapter, \
         or the library itself with -fsanitize=thread and link it without; or use --engine native"
    ))
}
