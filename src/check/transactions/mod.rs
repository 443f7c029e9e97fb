//! The checker of transactions under snapshot isolation, and of serializable ones.
//!
//! - `anomaly`: names for what transactions did wrong.
//! - `checker`: the verdict on a history of transactions.
//! - `content`: what a store holds at a checkpoint, and the transactions that leave the same.
//! - `in_flight`: transactions judged while some of them are under way.
//! - `orders`: why no order of a few transactions explains what they read.
//! - `prune_transactions`: prunes a history of transactions.
//! - `stamped`: stores whose transactions have timestamps, as sequential objects.
//! - `store`: stores of keys and values, as sequential objects.
//! - `transaction`: transactions made out of operations.

mod anomaly;
mod checker;
mod content;
mod in_flight;
mod orders;
mod prune_transactions;
mod stamped;
mod store;
mod transaction;

pub use checker::{check, check_so_far};
pub use prune_transactions::{prune, unknown_past};
