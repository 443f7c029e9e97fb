//! Traces: what a harness recorded, on its way to a history. [`records`] is the layout of one
//! thread's calls, [`frame`] what they travel in, [`wire`] how that is written to a pipe or a file,
//! [`area`] the memory the harness shares so that nothing is lost when it dies, [`trail`] what
//! threads did between the calls' ends.

pub mod area;
pub mod frame;
pub mod records;
pub mod rounds;
pub mod trail;
pub mod wire;
