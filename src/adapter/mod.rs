//! From a name or a source file to a loaded target.

pub mod availability;
pub mod cache;
pub mod catalog;
pub mod compile;
pub mod head;
pub mod includes;
pub mod packages;
pub mod scaffold;
pub mod sources;
