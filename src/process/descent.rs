//! Tells whether a process was started by this one, or by a process that it started.

use std::collections::VecDeque;
use std::fs;
use std::sync::{Mutex, PoisonError};

/// Most generations between the two.
const GENERATIONS_MAX: usize = 64;

/// Harness processes that were started last. One may have ended when its signal is looked at.
static STARTED: Mutex<VecDeque<i32>> = Mutex::new(VecDeque::new());
const STARTED_MAX: usize = 64;

pub(super) fn note_started(process: u32) {
    let mut started = STARTED.lock().unwrap_or_else(PoisonError::into_inner);
    started.truncate(STARTED_MAX - 1);
    started.push_front(process as i32);
}

/// Whether the process descends from this one. No for one that is neither a harness nor runs any
/// more, and for one whose parent has ended, which the system's first process adopts.
pub fn descends_from_this(process: i32) -> bool {
    if STARTED.lock().unwrap_or_else(PoisonError::into_inner).contains(&process) {
        return true;
    }
    let own = std::process::id() as i32;
    let mut ancestors = std::iter::successors(parent(process), |process| parent(*process));
    ancestors.by_ref().take(GENERATIONS_MAX).any(|ancestor| ancestor == own)
}

fn parent(process: i32) -> Option<i32> {
    // proc(5): the name stands in brackets and may hold any, then come the state and the parent.
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let after_name = stat.rsplit(')').next()?;
    after_name.split_whitespace().nth(1)?.parse().ok().filter(|parent| *parent > 0)
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn children_descend_and_parents_do_not() {
        let mut child =
            Command::new("sleep").arg("60").stdin(Stdio::null()).spawn().expect("it is");
        let is_descendant = descends_from_this(child.id() as i32);
        child.kill().and_then(|()| child.wait()).expect("it ends");
        assert!(is_descendant);
        let own = std::process::id() as i32;
        assert!(!descends_from_this(own), "of itself");
        assert!(parent(own).is_none_or(|parent| !descends_from_this(parent)));
    }
}
