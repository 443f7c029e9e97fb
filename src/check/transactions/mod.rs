//! The checker of transactions under snapshot isolation, and of serializable ones.
//!
//! - `anomaly`: Names what transactions did wrong, with the fewest transactions that show it.
//! - `checker`: Checks transactions under snapshot isolation, and transactions that must be
//!   serializable.
//! - `content`: What a store holds at a checkpoint, and the transactions that leave the same.
//! - `in_flight`: Checks serializable transactions while some of them are under way, as a
//!   sequential object whose operations are whole transactions.
//! - `lists/`: Checks transactions that append to lists and read whole lists, as Elle's list-append
//!   does (Kingsbury and Alvaro, VLDB 2020).
//! - `orders`: Explains why no order of a few transactions gives what they read: follows each order
//!   as far as it goes and names the first answer that it contradicts.
//! - `prune_transactions`: Prunes a history of transactions in an online check: replaces what came
//!   before a checkpoint by one transaction that writes the same.
//! - `stamped`: Stores whose transactions have known timestamps, as sequential objects whose
//!   operations are instants of transactions.
//! - `store`: Stores of keys and values, as sequential objects whose operations are instants of
//!   transactions.
//! - `timestamp_order`: Explains transactions under snapshot isolation by the order of their
//!   timestamps, without a search: what most stores do takes no other order, however many
//!   transactions overlap.
//! - `transaction`: Makes transactions out of operations: what each read, changed and came to, or
//!   why the operations make none.

mod anomaly;
mod checker;
mod content;
mod in_flight;
mod lists;
mod orders;
mod prune_transactions;
mod stamped;
mod store;
mod timestamp_order;
pub mod transaction;

pub use checker::{check, check_so_far};
pub use prune_transactions::{prune, unknown_past};
