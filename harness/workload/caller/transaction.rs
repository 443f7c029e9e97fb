//! The transactions of a thread: chooses calls so that each transaction begins and ends.

use interlap::core::operation::{Op, Status};

use super::Caller;

/// Calls of a transaction at most, with its begin and its end.
pub const TRANSACTION_MAX: u64 = TRANSACTION_CALLS.1 + 2;

/// Calls of a transaction between its begin and its end.
const TRANSACTION_CALLS: (u64, u64) = (1, 6);
/// One transaction in so many aborts.
const COMMITS: u64 = 8;

/// How often a call is drawn that fits into a transaction; then it ends instead.
const TRIES: u64 = 32;

/// The transaction of a thread.
#[derive(Clone, Copy, Debug)]
pub(super) enum Transaction {
    None,
    /// Under way, with so many calls to come before its end.
    Open(u64),
    /// One of its changes was refused.
    Refused,
}

impl Caller<'_> {
    /// The next call of the thread's transaction: `drawn`, or another one where that does not fit.
    pub(super) fn next_of_transaction(&mut self, drawn: Op) -> Op {
        let can_abort = self.table.0.iter().any(|(op, _)| *op == Op::StoreAbort);
        match self.transaction {
            Transaction::None => return Op::StoreBegin,
            Transaction::Refused if can_abort => return Op::StoreAbort,
            Transaction::Open(left) if left > 0 => {
                self.transaction = Transaction::Open(left - 1);
            }
            _ if can_abort && self.random.one_in(COMMITS) => return Op::StoreAbort,
            _ => return Op::StoreCommit,
        }
        let inside = |op: &Op| matches!(op, Op::StoreRead | Op::StoreWrite | Op::StoreRemove);
        let mut op = drawn;
        for _ in 0..TRIES {
            if inside(&op) {
                return op;
            }
            op = self.drawn();
        }
        Op::StoreCommit
    }

    /// Whether a transaction is under way.
    pub fn is_in_transaction(&self) -> bool {
        !matches!(self.transaction, Transaction::None)
    }

    /// The state of the thread's transaction after this answer.
    pub(super) fn transaction_after(&mut self, op: Op, status: Status) -> Transaction {
        let (least, most) = TRANSACTION_CALLS;
        match (op, status) {
            (Op::StoreBegin, _) => Transaction::Open(self.random.between(least, most)),
            (Op::StoreCommit | Op::StoreAbort, _) => Transaction::None,
            (Op::StoreWrite | Op::StoreRemove, Status::Failed) => Transaction::Refused,
            _ => self.transaction,
        }
    }
}
