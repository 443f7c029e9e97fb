//! Writes results as JUnit XML for continuous integration.
//! Each target is a test suite; each run and each finding is a test case. A new finding fails, a
//! known one is skipped.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, Result};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::results::{self, Ended, Results, Run};
use super::text;
use crate::finding::Stored;
use crate::finding::locations;

/// The whole file.
pub fn render(results: &Results) -> Result<String> {
    let mut suites: BTreeMap<&str, TestSuite> = BTreeMap::new();
    let mut suite = |target, case: TestCase| {
        let suite = suites.entry(target).or_insert_with(|| TestSuite::new(legal(target)));
        let time = suite.time.unwrap_or_default() + case.time.unwrap_or_default();
        suite.set_time(time);
        suite.add_test_case(case);
    };
    results.runs.iter().for_each(|run| suite(&run.target, run_case(run)));
    for stored in &results.findings {
        suite(stored.finding.plan.target_name(), finding_case(stored, results));
    }
    let mut report = Report::new("interlap");
    report.set_time(suites.values().filter_map(|suite| suite.time).sum());
    report.add_test_suites(suites.into_values());
    report.to_string().context("cannot write JUnit XML")
}

fn run_case(run: &Run) -> TestCase {
    let status = match &run.ended {
        Ended::Well => TestCaseStatus::success(),
        Ended::Violated { rule, why } => non_success(NonSuccessKind::Failure, rule, why, why),
        Ended::NotDecided(why) => non_success(NonSuccessKind::Error, "not decided", why, why),
        Ended::Failed(why) => non_success(NonSuccessKind::Error, "error", why, why),
    };
    let mut case = TestCase::new(legal(&run.name), status);
    case.set_classname(legal(&format!("interlap.{}", run.target)));
    case.set_time(Duration::try_from_secs_f64(run.seconds).unwrap_or_default());
    case.set_system_out(legal(&format!("{}\n{}", run.command, run.text)));
    case
}

fn finding_case(stored: &Stored, results: &Results) -> TestCase {
    let finding = &stored.finding;
    let status = match &finding.known {
        Some(known) => {
            // Jenkins shows the message, GitLab the text.
            let why = legal(&format!("known: {known}"));
            let mut status = TestCaseStatus::skipped();
            status.set_message(why.clone()).set_description(why);
            status
        }
        None => {
            let sentence = results::sentence(stored);
            let (rule, report) = (results::rule(finding), text::render(stored));
            non_success(NonSuccessKind::Failure, &rule, &sentence, &report)
        }
    };
    let name = match finding.first_signature() {
        first if *first == finding.signature => first.to_string(),
        first => format!("{}, found as {first}", finding.signature),
    };
    let name = match &finding.regression {
        Some(of) => format!("known finding {of}: {name}"),
        None => name,
    };
    let mut case = TestCase::new(legal(&name), status);
    case.set_classname(legal(&format!("interlap.{}", finding.plan.target_name())));
    // The run has the time.
    case.set_time(Duration::ZERO);
    if let Some(location) = locations::rank(stored).first() {
        let place = location.place.in_library();
        let file = results::named(&place.file, results.root);
        case.extra.insert("file".into(), legal(&file.to_string_lossy()).into());
        case.extra.insert("line".into(), place.line.to_string().into());
    }
    case
}

fn non_success(kind: NonSuccessKind, class: &str, message: &str, text: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    status.set_type(legal(class)).set_message(legal(message)).set_description(legal(text));
    status
}

/// Replaces the two characters that XML 1.0 forbids and the writer does not know.
fn legal(text: &str) -> String {
    text.replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}
