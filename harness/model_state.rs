//! What a sequential class beside the adapter says and asks, call by call: the state that it is in,
//! and which of several ways it is to go.

use std::ffi::{CStr, c_char};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use interlap::core::value::{Type, TypeParser};

use crate::controlled;
use crate::pipe::abandon;

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

/// Ways of one call at most.
const WAYS_MAX: u32 = 1 << 12;

/// The way that the call is to go: what its questions left of that, each of which took the
/// remainder by the number of its answers; and the product of these numbers.
static WAY: AtomicU32 = AtomicU32::new(0);
static WAYS: AtomicU32 = AtomicU32::new(1);

/// The next call goes this way.
pub fn choose(way: u32) {
    WAY.store(way, Relaxed);
    WAYS.store(1, Relaxed);
}

/// How many ways there were.
pub fn ways() -> u32 {
    WAYS.load(Relaxed)
}

/// Called by `interlap::choose`: a number below `count`.
#[unsafe(no_mangle)]
unsafe extern "C" fn il_model_choose(count: u32) -> u32 {
    let (way, ways) = (WAY.load(Relaxed), WAYS.load(Relaxed));
    let all = ways.checked_mul(count.max(1)).filter(|all| *all <= WAYS_MAX);
    let Some(all) = all else {
        abandon(format!("a call of the model chooses among more than {WAYS_MAX} ways").into())
    };
    WAY.store(way / count.max(1), Relaxed);
    WAYS.store(all, Relaxed);
    way % count.max(1)
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
