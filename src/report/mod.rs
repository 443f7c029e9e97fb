//! Renders findings, runs and histories: as text, as pages, and as reports for other programs.
//! It decides nothing; other rooms made the facts that are rendered here.
//!
//! - `again`: Says what became of a finding whose plan was run again.
//! - `coverage`: The coverage of the controlled engine in words: a table of the policies, and
//!   remarks.
//! - `debugger/`: Writes the files that a debugger needs for a finding's round or recording, into
//!   the finding's directory.
//! - `directory`: Writes a finding's directory: data, report, page and gdb's script.
//! - `exercise`: What a run exercised, in a few lines, and mostly what it did not.
//! - `explanation`: Says in a few sentences what is wrong in a finding.
//! - `interleaving`: Draws the interleaving of a finding as a table in text.
//! - `junit`: Writes results as JUnit XML for continuous integration.
//! - `orders`: Which memory orders a target's calls need: the table of `interlap orders`, in words
//!   and as JSON.
//! - `output`: Writes standard output and standard error, so that a closed pipe does not end a
//!   command, and that no text from a target, a finding or a history controls the terminal.
//! - `overview/`: Renders the page of a run: one HTML file that shows what was exercised and what
//!   was not.
//! - `page`: Makes the page of a finding.
//! - `progress`: Shows the progress of a run and its findings on standard error.
//! - `questions`: Asks whether what was found is meant: where a weaker promise allows it, or where
//!   calls wait for values that nobody adds.
//! - `recording`: The lines of a report about a recording by rr: where it lies, when each operation
//!   begins in it, how to stop a debugger there, and what other engines showed.
//! - `results`: Runs and their findings, as data for the reports to other programs.
//! - `run`: The summary of a run, in words and as JSON: its numbers, its findings, why it ended.
//! - `sarif/`: Writes results as SARIF 2.1.0 (Static Analysis Results Interchange Format, OASIS
//!   2020).
//! - `specification`: What judging exercised of a specification: its actions and their branches,
//!   and of those that no step went through the conjunct that was never true.
//! - `text`: The report of a finding: its operations, why no order explains them, and a ruled block
//!   that says what to do next.
//! - `triage`: The table of `interlap triage`: a line for each group of findings, with the groups
//!   of one bug below each other.
//! - `warnings`: Puts the warnings of a run into words, and why it tested next to nothing.
//! - `words`: Puts faults and actions of threads into words, for all reports.

pub mod again;
pub mod coverage;
pub mod debugger;
pub mod directory;
pub mod exercise;
pub mod explanation;
pub mod interleaving;
pub mod junit;
pub mod orders;
pub mod output;
pub mod overview;
pub mod page;
pub mod progress;
pub mod questions;
pub mod recording;
pub mod results;
pub mod run;
pub mod sarif;
pub mod specification;
pub mod text;
pub mod triage;
pub mod warnings;
pub mod words;
