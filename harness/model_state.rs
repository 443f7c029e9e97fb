//! Notes the state that a sequential class beside the adapter says it is in, call by call.

use std::ffi::{CStr, c_char};
use std::sync::Mutex;

use interlap::core::value::{Type, TypeParser};

use crate::controlled;

/// What was said last.
struct Said {
    /// The type, as it is written.
    text: String,
    of: Option<Type>,
    state: Option<String>,
}

/// One thread at a time calls such a class.
static SAID: Mutex<Said> = Mutex::new(Said { text: String::new(), of: None, state: None });

/// The state after the last call, if the class says it.
pub fn take() -> Option<String> {
    SAID.lock().ok()?.state.take()
}

/// Called by interlap_operations.hpp after each call of a class that lists its members.
#[unsafe(no_mangle)]
unsafe extern "C" fn il_model_state(of: *const c_char, words: *const i64, count: usize) {
    let controls = controlled::leave();
    // SAFETY: a string that ends in NUL, which lives until this returns.
    let of = unsafe { CStr::from_ptr(of) };
    let words = match count {
        0 => &[],
        // SAFETY: so many words, as the caller passes them, which live until this returns.
        _ => unsafe { std::slice::from_raw_parts(words, count) },
    };
    if let (Ok(of), Ok(mut said)) = (of.to_str(), SAID.lock()) {
        if said.text != of {
            (said.text, said.of) = (of.to_string(), TypeParser::new(of).one());
        }
        let mut text = String::new();
        let shown = said.of.as_ref().map(|of| of.show(&mut &*words, &mut text));
        said.state = matches!(shown, Some(Ok(()))).then_some(text);
    }
    controlled::enter(controls);
}
