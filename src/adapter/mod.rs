//! Adapters: finds one by name or path, describes it, and compiles it to a library.

pub mod availability;
pub mod cache;
pub mod catalog;
pub mod compile;
pub mod head;
pub mod includes;
pub mod packages;
pub mod scaffold;
pub mod sources;
