//! Which round is under way and how it is scheduled, for reports and debuggers.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use interlap::schedule::Spec;

static NUMBER: AtomicU64 = AtomicU64::new(0);
static POLICY: Mutex<Option<Spec>> = Mutex::new(None);

pub fn set(number: u64, policy: &Spec) {
    NUMBER.store(number, Ordering::Relaxed);
    *POLICY.lock().expect("no thread panics holding it") = Some(policy.clone());
}

/// Its number. A signal handler may ask.
pub fn number() -> u64 {
    NUMBER.load(Ordering::Relaxed)
}

pub fn policy_name() -> String {
    let policy = POLICY.lock().expect("no thread panics holding it");
    policy.as_ref().map(Spec::name).unwrap_or_default()
}
