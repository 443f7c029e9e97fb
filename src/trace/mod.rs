//! Traces: what a harness recorded, on its way to a history. [`records`] is the layout of one
//! thread's calls, [`frame`] what they travel in, [`wire`] how that is written to a pipe or a file,
//! [`area`] the memory the harness shares so that nothing is lost when it dies, [`trail`] what
//! threads did between the calls' ends.
//!
//! - `area`: The memory a harness records into, shared with the main program through a memory file:
//!   whatever kills the harness (a signal, `_exit`, the kernel when memory runs out), all it
//!   recorded is still there.
//! - `frame`: What travels in a trace, through a pipe or in a file: each message of it is a
//!   [`Frame`].
//! - `records`: The layout of one thread's recorded calls: a run of bytes that is written before
//!   and after each call and is complete at any instant, so that a thread that dies inside a call
//!   leaves it pending.
//! - `rounds`: Puts frames together into rounds: frames come in one by one, a [`Round`] with its
//!   history goes out when its end has come.
//! - `trail`: The trail of a round: what its threads did, step by step, where the plan asks for it.
//! - `wire`: How frames are written: MessagePack values, one after the other.

pub mod area;
pub mod frame;
pub mod records;
pub mod rounds;
pub mod trail;
pub mod wire;
