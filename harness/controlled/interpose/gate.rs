//! Wraps the functions of `il_target`, so that the target's code runs under control and ours does
//! not.

use std::ffi::c_void;
use std::sync::OnceLock;

use crate::controlled::core::{control, engine};
use crate::library::{Functions, abi};

static TARGET: OnceLock<Functions> = OnceLock::new();

/// The same functions, under control. There is one target in a process.
pub fn wrap(functions: Functions) -> Functions {
    let target = TARGET.get_or_init(|| functions);
    Functions {
        create: create_controlled,
        destroy: destroy_controlled,
        enter: target.enter.map(|_| enter_controlled as _),
        leave: target.leave.map(|_| leave_controlled as _),
        call: call_controlled,
    }
}

fn target() -> &'static Functions {
    TARGET.get().expect("the functions here come from `wrap`")
}

fn controlled<T>(run: impl FnOnce() -> T) -> T {
    control::set_controls(true);
    let made = run();
    control::set_controls(false);
    made
}

unsafe extern "C" fn create_controlled(config: *const abi::il_config) -> *mut c_void {
    // SAFETY: as the caller promises of the target's own function; so below.
    controlled(|| unsafe { (target().create)(config) })
}

unsafe extern "C" fn destroy_controlled(structure: *mut c_void) {
    // SAFETY: as above.
    controlled(|| unsafe { (target().destroy)(structure) })
}

unsafe extern "C" fn enter_controlled(structure: *mut c_void, thread: u32) -> *mut c_void {
    let enter = target().enter.expect("wrapped only if there is one");
    // SAFETY: as above.
    controlled(|| unsafe { enter(structure, thread) })
}

unsafe extern "C" fn leave_controlled(structure: *mut c_void, local: *mut c_void) {
    let leave = target().leave.expect("wrapped only if there is one");
    // SAFETY: as above.
    controlled(|| unsafe { leave(structure, local) })
}

unsafe extern "C" fn call_controlled(
    structure: *mut c_void,
    local: *mut c_void,
    call: *mut abi::il_call,
) {
    engine::call_begins();
    // SAFETY: as above.
    controlled(|| unsafe { (target().call)(structure, local, call) });
    engine::call_ends();
}
