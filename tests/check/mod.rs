//! The checkers against a plain enumeration of all orders, on random histories.

mod agreement;
mod brute;
mod corrupt;
mod machine;
mod online;
mod partial;
mod properties;
mod random;
mod store;
mod transactions;
mod users;
mod verdicts;
