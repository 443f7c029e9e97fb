//! Notes what the target throws: where each thread last threw, and the exception that ends the
//! process. By the time that this leaves the structure, the stack of the throw is gone.

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_void};
use std::mem::transmute;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use interlap::trace::area;

use crate::{controlled, fault, stacks};

type Throw = unsafe extern "C-unwind" fn(*mut c_void, *const TypeInfo, *mut c_void) -> !;

/// std::type_info (Itanium C++ ABI, 2.9.4).
#[repr(C)]
pub struct TypeInfo {
    table: *const c_void,
    name: *const c_char,
}

/// The function of the target's C++ library that throws.
static THROW: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// An exception ends the process.
static ENDS: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// Where this thread threw last, and the name of the exception's type.
    static THROWN: Cell<([u64; area::FAULT_STACK_MAX], *const c_char)> =
        const { Cell::new(([0; area::FAULT_STACK_MAX], ptr::null())) };
}

/// The target calls this function of its C++ library; none if it has none.
pub fn note_library(throw: Option<*mut c_void>) {
    THROW.store(throw.unwrap_or(ptr::null_mut()), Ordering::Relaxed);
}

/// The function of the C++ library, also while the target is still being loaded.
fn throw() -> *mut c_void {
    let known = THROW.load(Ordering::Relaxed);
    if !known.is_null() {
        return known;
    }
    let flags = libc::RTLD_NOLOAD | libc::RTLD_LAZY;
    // SAFETY: gives a handle on the library only if it is loaded, and looks up a name in it.
    unsafe {
        match libc::dlopen(c"libstdc++.so.6".as_ptr(), flags) {
            library if library.is_null() => libc::dlsym(libc::RTLD_NEXT, c"__cxa_throw".as_ptr()),
            library => libc::dlsym(library, c"__cxa_throw".as_ptr()),
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn __cxa_throw(
    exception: *mut c_void,
    of: *const TypeInfo,
    destroy: *mut c_void,
) -> ! {
    let mut stack = [0; area::FAULT_STACK_MAX];
    let controls = controlled::leave();
    stacks::of_target(stack.len(), |frame, at| stack[frame] = at);
    controlled::enter(controls);
    // SAFETY: the type of an exception lives as long as the library that throws it.
    THROWN.set((stack, unsafe { (*of).name }));
    let function = throw();
    if function.is_null() {
        // SAFETY: ends the process: there is no C++ library that could throw.
        unsafe { libc::abort() }
    }
    // SAFETY: the function that the caller meant to call, which has this type, with its arguments.
    unsafe { transmute::<*mut c_void, Throw>(function)(exception, of, destroy) }
}

/// Called by interlap.hpp: the process ends for an exception, of this type and with this text. Of
/// several threads the first one's counts, and the others wait for the end.
#[unsafe(no_mangle)]
unsafe extern "C" fn il_exception_ends(of: *const c_char, text: *const c_char) {
    if ENDS.swap(true, Ordering::AcqRel) {
        fault::wait_for_end();
    }
    controlled::run_alone();
    // SAFETY: strings that end in NUL, as interlap.hpp passes them.
    let (of, text) = unsafe { (CStr::from_ptr(of), CStr::from_ptr(text)) };
    let (stack, thrown) = THROWN.get();
    // SAFETY: the name of a type, which lives as long as its library.
    if !thrown.is_null() && unsafe { CStr::from_ptr(thrown) } == of {
        stack.iter().enumerate().for_each(|(at, code)| {
            fault::store(area::WORD_FAULT_STACK + at, *code);
        });
    }
    store_text(area::WORD_EXCEPTION_TEXT, area::EXCEPTION_TEXT_WORDS, text);
    // Last, because it says that the rest is there.
    store_text(area::WORD_EXCEPTION_TYPE, area::EXCEPTION_TYPE_WORDS, of);
}

/// Stores the beginning of a text, with a NUL behind it.
fn store_text(word: usize, words: usize, text: &CStr) {
    let bytes = text.to_bytes();
    let bytes = &bytes[..bytes.len().min(8 * words - 1)];
    for (at, part) in bytes.chunks(8).enumerate() {
        let mut whole = [0; 8];
        whole[..part.len()].copy_from_slice(part);
        fault::store(word + at, u64::from_le_bytes(whole));
    }
}
