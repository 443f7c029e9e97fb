//! The nouns that every part shares: histories, operations, plans, random numbers; calls in
//! [`words`].

pub mod history;
pub mod journal;
pub mod machine;
pub mod measured;
pub mod operation;
pub mod plan;
pub mod random;
pub mod scenario;
pub mod tsc;
pub mod words;
