//! Traces: the recordings of a harness, from shared memory and pipe to histories.
//! [`records`] is the layout of one thread's calls, [`frame`] the messages that carry them,
//! [`wire`] their encoding on a pipe or in a file, [`area`] the shared memory that survives the
//! harness, [`trail`] the steps of the threads inside their calls.

pub mod area;
pub mod frame;
pub mod records;
pub mod rounds;
pub mod trail;
pub mod wire;
