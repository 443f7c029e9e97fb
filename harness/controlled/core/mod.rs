//! The engine: decides who runs, and switches to them.

pub mod carrier;
pub mod engine;
pub mod layout;
mod pace;
pub mod recorder;
mod stop;
mod switching;
mod waiting;
