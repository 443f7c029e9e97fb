//! Traces: the recordings of a harness, from shared memory and pipe to histories.
//! [`records`] is the layout of one thread's calls, [`frame`] the messages that carry them,
//! [`wire`] their encoding on a pipe or in a file, [`area`] the shared memory that survives the
//! harness, [`trail`] the steps of the threads inside their calls.
//!
//! - `area`: The layout of the record area: the shared memory into which a harness records.
//! - `frame`: The messages of a trace, in a pipe or a file: each is a [`Frame`].
//! - `judged`: What a harness made of a round that it judged itself.
//! - `kept`: Rounds that a run keeps: a trace, and in a store a line for each round that says what
//!   was made of it and how long that took.
//! - `records/`: The binary layout of one thread's recorded calls, with its writer and reader.
//! - `rounds`: Assembles frames into rounds with their histories, and writes rounds as frames.
//! - `trail`: The trail of a round: the events of its threads, step by step, where the plan asks
//!   for it.
//! - `wire`: The encoding of frames: a sequence of MessagePack values.

pub mod area;
pub mod frame;
pub mod judged;
pub mod kept;
pub mod records;
pub mod rounds;
pub mod trail;
pub mod wire;
