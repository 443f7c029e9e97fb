//! What people are told: [`text`] renders findings, [`timeline`] draws operations, [`progress`]
//! shows how a run is getting on, [`coverage`] what it has covered, [`exercise`] what it never did,
//! [`interleaving`] what threads did, [`triage`] findings side by side. And what other programs are
//! told of [`results`]: [`junit`], [`sarif`]. Faults and acts get their words in [`words`]. Nothing
//! here decides anything.
//!
//! - `coverage`: What the controlled engine's rounds have covered, in words: a table of the
//!   policies, and what follows from the numbers.
//! - `debugger/`: A finding's round, or its recording, under a debugger.
//! - `directory`: Writes a finding's directory: its data, its report in words, its page and gdb's
//!   script.
//! - `exercise`: What a run exercised, in a few lines: mostly what it did not.
//! - `interleaving`: The table of what a finding's threads did, in words: an interleaving comes in,
//!   text goes out.
//! - `junit`: Results as JUnit XML, as continuous integration reads it: a test suite for each
//!   target; in it a test case for each run, and one for each finding, failed if it is new, skipped
//!   if it is known.
//! - `output`: Standard output and standard error, written so that no reader decides a command's
//!   exit status.
//! - `overview/`: The page of a run: one HTML file without network that shows what was done and
//!   what was not.
//! - `page/`: A page: one HTML file without network that shows a history and what was made of it.
//! - `progress`: How a run is getting on: a line that renews itself on a terminal, a plain line now
//!   and then elsewhere.
//! - `recording`: What a report says of a recording by rr: where it lies, when in it each operation
//!   of the report begins, the lines that stop a debugger there, and what other engines made of it.
//! - `results`: What the reports for other programs tell of: runs and what was found in them.
//! - `run`: A run as a whole, in words and for other programs: its numbers, its findings, why it
//!   ended.
//! - `sarif/`: Results as SARIF 2.1.0 (Static Analysis Results Interchange Format, OASIS 2020),
//!   which shows findings at their source lines: a result for each finding, suppressed if it is
//!   known, with what its threads did as a code flow, a thread flow for each, numbered by the order
//!   of execution.
//! - `text`: A finding in words: what was called and answered, why no order explains it, and the
//!   ruled block that says what to do next.
//! - `timeline`: Draws operations as boxes in time, a row a thread, with a legend.
//! - `triage`: Findings side by side, in words: groups come in, a table goes out.
//! - `words`: Faults and the acts of threads in words.

pub mod coverage;
pub mod debugger;
pub mod directory;
pub mod exercise;
pub mod interleaving;
pub mod junit;
pub mod output;
pub mod overview;
pub mod page;
pub mod progress;
pub mod recording;
pub mod results;
pub mod run;
pub mod sarif;
pub mod text;
pub mod timeline;
pub mod triage;
pub mod words;
