//! Why threads wait and what ends a wait, as types.

/// Why a thread waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    Mutex,
    ReadLock,
    WriteLock,
    Condition,
    Semaphore,
    Barrier,
    Once,
    Futex,
    Join,
    Sleep,
    Signal,
    Other,
}

impl Wait {
    /// Whether signals that the thread took end the wait.
    pub(super) fn is_ended_by(self, taken: Taken) -> bool {
        match self {
            Wait::Semaphore | Wait::Futex => taken == Taken::Interrupted,
            Wait::Signal => taken != Taken::Nothing,
            _ => false,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Woken {
    /// By another thread.
    Up,
    Timeout,
    /// The thread has taken a signal that ends the wait.
    BySignal,
}

/// The key of waits for the end of a thread.
pub fn join_key(thread: usize) -> usize {
    thread + 1
}

/// What a thread did with the signals that were sent to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Taken {
    /// No handler ran.
    Nothing,
    Handled,
    /// A handler without SA_RESTART ran, which ends calls that wait.
    Interrupted,
}
