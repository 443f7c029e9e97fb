//! Reports faults that others notice before they do harm (`state::heap` bad accesses and frees,
//! `core::switching` deadlocks, `core::points` livelocks, `watchdog` hangs): sends a frame to the
//! main program, and ends the process. What was recorded so far is in the record area.

use interlap::trace::frame::{Detected, DetectedKind, Frame, Place, Steps};
use interlap::trace::trail::{AROUND_MAX, Act as Did};

use super::{backtrace, coverage, libraries, trail};
use crate::controlled::core::engine::{self, Wait};
use crate::controlled::core::{control, current_round};

/// Something a thread did to a block of memory.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Act {
    /// Address of the code.
    code: usize,
    thread: u16,
    /// Whether it was in a call of the structure.
    calling: bool,
    /// How many of these it had begun.
    call: u32,
}

impl Act {
    /// What the running thread does now, about to be reported.
    fn reported(code: usize) -> Act {
        let act = Act::now(code);
        control::set_controls(false);
        // A call that came from a library's code: what led there is of more use.
        let code = if libraries::is_target_code(code) { code } else { backtrace::here() };
        Act { code, ..act }
    }

    /// What the running thread does now.
    pub fn now(code: usize) -> Act {
        let thread = engine::current();
        let of_caller = thread < engine::callers() + 1;
        let (call, calling) = if of_caller { engine::calls(thread) } else { (0, false) };
        Act { code, thread: thread as u16, calling, call }
    }

    fn who(self) -> String {
        who(self.thread.into(), self.call, self.calling)
    }
}

/// "thread 2 in its call 5".
fn who(thread: usize, call: u32, calling: bool) -> String {
    let when = if calling { "in" } else { "after" };
    match thread.cmp(&engine::callers()) {
        std::cmp::Ordering::Less if call == 0 => format!("thread {thread} before its first call"),
        std::cmp::Ordering::Less => format!("thread {thread} {when} its call {call}"),
        std::cmp::Ordering::Equal => "the thread that creates, drains and destroys".to_string(),
        std::cmp::Ordering::Greater => format!("thread {thread}, which the target started,"),
    }
}

/// `code` is a return address: the call before it is meant.
fn place(what: String, code: usize) -> Place {
    Place { what, code: before(code), around: Vec::new() }
}

/// What the running thread does, with the functions that it is in.
fn place_now(what: String, code: usize) -> Place {
    let around: [usize; AROUND_MAX] = backtrace::around(code);
    Place { around: around.into_iter().filter_map(before).collect(), ..place(what, code) }
}

/// What some thread did to the block: the trail, if there is one, knows in which functions.
fn place_then(what: String, code: usize, (act, block): (Did, usize)) -> Place {
    let around = trail::around_last(act, block, code);
    let around = around.unwrap_or_default().into_iter().filter_map(before);
    Place { around: around.collect(), ..place(what, code) }
}

fn before(code: usize) -> Option<u64> {
    (code != 0).then(|| code as u64 - 1)
}

pub fn use_after_free(address: usize, block: usize, freed: Act, write: bool, code: usize) -> ! {
    let now = Act::reported(code);
    let (verb, offset) = (if write { "wrote to" } else { "read from" }, address - block);
    let places = vec![
        place_now(
            format!("{} {verb} freed memory at {address:#x}, byte {offset} of a block", now.who()),
            now.code,
        ),
        place_then(format!("{} had freed the block", freed.who()), freed.code, (Did::Free, block)),
    ];
    fault(DetectedKind::UseAfterFree, Some(now.thread.into()), places)
}

pub fn double_free(block: usize, freed: Act, code: usize) -> ! {
    let now = Act::reported(code);
    let places = vec![
        place_now(
            format!("{} freed the block at {block:#x}, which was freed already", now.who()),
            now.code,
        ),
        place_then(format!("{} had freed it", freed.who()), freed.code, (Did::Free, block)),
    ];
    fault(DetectedKind::DoubleFree, Some(now.thread.into()), places)
}

pub fn bad_free(address: usize, code: usize) -> ! {
    let now = Act::reported(code);
    let what = format!("{} freed {address:#x}, where no block begins", now.who());
    fault(DetectedKind::BadFree, Some(now.thread.into()), vec![place_now(what, now.code)])
}

/// `near`: the block before the address, its size and who allocated it.
pub fn out_of_bounds(
    address: usize,
    near: Option<(usize, usize, Act)>,
    write: bool,
    code: usize,
) -> ! {
    let now = Act::reported(code);
    let verb = if write { "wrote to" } else { "read from" };
    let places = match near {
        Some((block, size, allocated)) => {
            let (who, offset) = (now.who(), address - block);
            let what = format!("{who} {verb} byte {offset} of a block of {size} bytes");
            let allocated_what = format!("{} had allocated the block", allocated.who());
            let by = (Did::Allocate, block);
            vec![place_now(what, now.code), place_then(allocated_what, allocated.code, by)]
        }
        None => {
            let what = format!("{} {verb} memory between two blocks of the heap", now.who());
            vec![place_now(what, now.code)]
        }
    };
    fault(DetectedKind::OutOfBounds, Some(now.thread.into()), places)
}

pub fn livelock(_step: u64) -> ! {
    fault(DetectedKind::Livelock, None, everybody(0))
}

/// The running thread computes without end. Called by a signal handler.
pub fn hang() -> ! {
    let me = engine::current();
    fault(DetectedKind::Hang, Some(me as u32), everybody(me))
}

pub fn deadlock() -> ! {
    fault(DetectedKind::Deadlock, None, everybody(0))
}

/// What each thread does, this one first.
fn everybody(first: usize) -> Vec<Place> {
    control::set_controls(false);
    let mut doing = backtrace::doing();
    // Who made the structure waits for those that call it, which says nothing.
    let is_idle = |doing: &backtrace::Doing| {
        let joins = matches!(doing.waits, Some((Wait::Join, _)));
        joins && doing.thread == engine::callers() && !libraries::is_target_code(doing.place)
    };
    if !doing.iter().all(is_idle) {
        doing.retain(|doing| !is_idle(doing));
    }
    doing.sort_by_key(|doing| (doing.thread != first, doing.thread));
    let doing = doing.into_iter();
    doing
        .map(|doing| {
            let (call, calling) = engine::calls(doing.thread);
            let who = who(doing.thread, call, calling);
            let what = match doing.waits {
                Some((Wait::Join, _)) => format!("{who} waits for a thread to end"),
                Some((Wait::Signal, _)) => format!("{who} waits for a signal"),
                Some((why, on)) => {
                    let holder = engine::holder(why, on);
                    let held = holder.map(|holder| format!(", which thread {holder} holds"));
                    format!("{who} waits for {} at {on:#x}{}", name(why), held.unwrap_or_default())
                }
                None => format!("{who} runs"),
            };
            place(what, doing.place)
        })
        .collect()
}

fn name(why: Wait) -> &'static str {
    match why {
        Wait::Mutex => "the mutex",
        Wait::ReadLock => "the read lock",
        Wait::WriteLock => "the write lock",
        Wait::Condition => "the condition variable",
        Wait::Semaphore => "the semaphore",
        Wait::Barrier => "the barrier",
        Wait::Once => "the once flag",
        Wait::Futex => "the futex",
        Wait::Join => "the end of a thread",
        Wait::Sleep => "time to pass",
        Wait::Signal => "a signal",
        Wait::Other => "something",
    }
}

/// Tells the main program, and ends the process.
fn fault(kind: DetectedKind, thread: Option<u32>, places: Vec<Place>) -> ! {
    control::set_controls(false);
    crate::fault::note_growth();
    crate::marker::interlap_fault();
    let round = current_round::number();
    let steps = Box::new(steps(&engine::counted()));
    let detected = Detected { kind, round, thread, places, steps };
    crate::record::send_last(&Frame::Fault(detected))
}

/// What a round counted, as it is sent. A round that a fault cut short has not leaked.
pub fn steps(counted: &engine::Outcome) -> Steps {
    Steps {
        policy: current_round::policy_name(),
        steps: counted.steps,
        switches: counted.switches,
        schedule: counted.schedule,
        atomics: counted.atomics,
        blocking: counted.blocking,
        pairs: coverage::new_pairs(),
        leaked_blocks: 0,
        leaked_bytes: 0,
        recorded: engine::recorded(),
        trail: trail::taken(),
    }
}
