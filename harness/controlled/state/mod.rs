//! What a round leaves in memory, and how it is put back.

pub mod buffers;
pub mod globals_snapshot;
pub mod growth;
pub mod heap;
pub mod leaks;
