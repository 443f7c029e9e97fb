//! The integration tests: one crate, one module a part of the flow.

mod check;
mod compile;
mod exchange;
mod page;
mod run;
mod tidy;
