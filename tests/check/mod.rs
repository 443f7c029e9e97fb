//! The checkers against a plain enumeration of all orders, on random histories.

mod agreement;
mod allocations;
mod brute;
mod corrupt;
mod machine;
mod online;
mod partial;
mod properties;
mod random;
mod search_trace;
mod shares;
mod store;
mod streams;
mod streams_online;
mod transactions;
mod transactions_online;
mod unrested;
mod users;
mod verdicts;
