//! What people are told: [`text`] renders findings, [`timeline`] draws operations, [`progress`]
//! shows how a run is getting on, [`coverage`] what it has covered, [`exercise`] what it never did,
//! [`interleaving`] what threads did, [`triage`] findings side by side. And what other programs are
//! told of [`results`]: [`junit`], [`sarif`]. Faults and acts get their words in [`words`]. Nothing
//! here decides anything.

pub mod coverage;
pub mod debugger;
pub mod exercise;
pub mod interleaving;
pub mod junit;
pub mod overview;
pub mod page;
pub mod progress;
pub mod recording;
pub mod results;
pub mod sarif;
pub mod text;
pub mod timeline;
pub mod triage;
pub mod words;
