//! Has a thread that does not run answer a question from its own stack, then switches back. No step
//! is counted, and the policy is not asked.

use std::cell::Cell;

use super::carrier::OUTSIDE;
use super::variables::{ENGINE, current};

struct Question {
    /// The thread that asks; [`OUTSIDE`]: none.
    asker: Cell<usize>,
    answer_by: Cell<fn() -> usize>,
    answer: Cell<usize>,
}

// SAFETY: as the engine: one thread at a time.
unsafe impl Sync for Question {}

static QUESTION: Question =
    Question { asker: Cell::new(OUTSIDE), answer_by: Cell::new(|| 0), answer: Cell::new(0) };

/// What `answer` gives when called by this thread; none before the thread has begun.
pub fn ask(thread: usize, answer: fn() -> usize) -> Option<usize> {
    let (e, me) = (&ENGINE, current());
    if thread == me {
        return Some(answer());
    }
    if !e.threads[thread].begun.get() {
        return None;
    }
    QUESTION.answer_by.set(answer);
    QUESTION.asker.set(me);
    e.carrier.get().switch(me, thread);
    Some(QUESTION.answer.get())
}

/// Called by a thread that was switched to: answers until it is switched to for another reason.
#[inline]
pub(super) fn answer(me: usize) {
    loop {
        match QUESTION.asker.replace(OUTSIDE) {
            OUTSIDE => return,
            asker => {
                QUESTION.answer.set(QUESTION.answer_by.get()());
                ENGINE.carrier.get().switch(me, asker);
            }
        }
    }
}
