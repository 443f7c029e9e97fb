//! What people are told: [`text`] renders findings, [`timeline`] draws operations, [`progress`]
//! shows how a run is getting on, [`coverage`] what it has covered, [`interleaving`] what threads
//! did. Nothing here decides anything.

pub mod coverage;
pub mod interleaving;
pub mod progress;
pub mod recording;
pub mod text;
pub mod timeline;
