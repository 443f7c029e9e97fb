//! Compares the checkers with a plain enumeration of all orders, on random histories.

mod agreement;
pub mod allocations;
mod blocks;
mod brute;
mod corrupt;
mod deadline;
mod examples;
mod isolation;
mod itself;
mod machine;
mod many_clients;
mod never_quiescent;
mod online;
mod own;
mod parallel;
mod partials;
mod properties;
pub mod random;
mod search_trace;
mod store;
mod streams;
mod streams_online;
mod transactions;
mod transactions_online;
mod users;
mod verdicts;
mod weaker;
