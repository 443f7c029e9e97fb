//! The general search: any model, any history, in time exponential in the number of operations
//! that overlap.
//!
//! - `cells`: Searches histories of maps and registers, where each key is one cell.
//! - `depth_first`: Finds one order that explains a history, depth first: fast where there is one,
//!   however long the history and however late it shows which of two operations came first.
//! - `early`: Says which operations of a history may as well take effect when they are called, and
//!   which need not happen at all: a search need not try them at every instant of their timeboxes.
//! - `frontier`: Holds the set of all configurations that a history can have led to so far, and
//!   moves it forward by invocations and responses.
//! - `history`: Searches a history under a bundled model: any model, any history, in time
//!   exponential in the number of operations that overlap.
//! - `journal`: Searches a journal of operations under any sequential object: a user's model,
//!   transactions, streams.
//! - `keyed`: Searches histories of keys (map, register, kv), each key for itself.
//! - `leaving`: When the values of a queue leave that is asked how many it holds: what is not in
//!   yet cannot leave before what is.
//! - `mend`: Mends an order in which an operation is due and cannot come: moves it, or one other
//!   operation, so that all else may stay as it is.
//! - `minimize_witness`: Minimizes the witness of a history that the general search found no order
//!   for: finds the few operations of a queue, stack or deque that already contradict each other.
//! - `parallel`: Judges independent keys on several threads.
//! - `position`: The configurations that are left at a time of a history, and the operations under
//!   way there: what every general search moves forward, from invocation to response.
//! - `producer_choices`: A queue to which some value was added twice, as a sequential object that
//!   knows the producer of each value: the order of bulk results and the promise of `empty=count`
//!   are about producers.
//! - `producer_ranges`: A queue that keeps the order of each producer, as a sequential object for
//!   the general search whose state is two numbers a producer, however much the queue holds.
//! - `program_order`: Searches for an order that keeps the order of each thread's own operations,
//!   whatever their timeboxes: sequential consistency (Lamport, IEEE Transactions on Computers
//!   1979).
//! - `quasi`: Searches for an order in which each operation is at most so many places from where it
//!   is in some linearization: quasi-linearizability, with one factor for all operations (Afek,
//!   Korland, Yanovsky, OPODIS 2010).
//! - `steps`: Finds the steps at which an operation takes effect: one for most; one for each
//!   element of a bulk operation that is not atomic; one for each producer's queue of an "empty"
//!   answer that may look at them one after another.
//! - `strings`: A key's string as a sequential object whose states differ only where some get can
//!   tell.
//! - `text_witness`: Explains why no order gives a get the string it found: names what the string
//!   cannot have, or lacks and must have, with the calls that show it.
//! - `unsettled_queue`: A queue as a sequential object that settles the order of its values as late
//!   as it can: when one is taken.

pub mod cells;
pub mod depth_first;
pub mod early;
pub mod frontier;
pub mod history;
pub mod journal;
pub mod keyed;
pub mod leaving;
mod mend;
pub mod minimize_witness;
pub mod parallel;
pub mod position;
pub mod producer_choices;
pub mod producer_ranges;
pub mod program_order;
pub mod quasi;
pub mod steps;
pub mod strings;
pub mod text_witness;
pub mod unsettled_queue;
