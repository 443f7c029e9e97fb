//! A job's rounds.

pub mod round;
