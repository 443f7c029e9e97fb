//! Which findings are most likely one bug: findings of real runs, where marked lines of the adapter
//! show the planted bug.

use std::collections::BTreeSet;
use std::path::PathBuf;

use interlap::campaign::triage;
use interlap::core::operation::Op;
use interlap::finding::interleaving::{Place, RowKind};
use interlap::finding::locations;
use interlap::finding::signature::Signature;
use interlap::finding::{Failure, Stored};
use interlap::report::triage::same_bug_note;

use super::tool::Tool;

/// A register with two bugs, each shown by the line at which a thread is stopped in it.
const TWO_BUGS: &str = r#"#include <atomic>
#include <interlap.hpp>
struct Register {
    static constexpr auto model = "register";
    std::atomic<int64_t> word{0};
    int64_t read() { return word.load(); }
    void write(int64_t value) {
        word.store(-1); // BUG: nobody wrote this
        word.store(value);
    }
    bool compare_exchange(int64_t old, int64_t value) {
        if (word.load() != old) return false; // BUG: it may be another by now
        word.store(value);
        return true;
    }
};
INTERLAP_TARGET(Register)
"#;

/// The planted lines at which threads were stopped.
fn planted(stored: &Stored) -> BTreeSet<u32> {
    let is_planted = |place: &&Place| place.in_library().text.contains("BUG");
    let locations = locations::rank(stored);
    let first = locations.iter().map(|location| location.place).take(1).filter(is_planted);
    first.map(|place| place.in_library().line).collect()
}

#[test]
fn two_bugs_of_one_structure_are_never_grouped() {
    let tool = Tool::new();
    let run = tool.fuzz_text("two.cpp", TWO_BUGS).rounds(600).jobs(1).findings(5).shrinking("40s");
    let answer = run.expect(1, &[]);
    let load = |directory: &PathBuf| Stored::load(directory).expect("a finding");
    let all: Vec<Stored> = answer.findings.iter().map(load).collect();
    let findings: Vec<&Stored> = all.iter().collect();
    let bugs = triage::same_bug::group(&findings);
    let shown = |bug: &Vec<usize>| -> BTreeSet<u32> {
        bug.iter().flat_map(|at| planted(findings[*at])).collect()
    };
    let lines: Vec<BTreeSet<u32>> = bugs.iter().map(shown).collect();
    assert!(lines.iter().all(|lines| lines.len() <= 1), "{lines:?}");
    let both: BTreeSet<u32> = lines.iter().flatten().copied().collect();
    assert_eq!(both, BTreeSet::from([8, 12]), "each was found: {lines:?}");
    assert!(bugs.len() < findings.len(), "and some more than once: {lines:?}");
    let note = |at: &usize| same_bug_note(Some(findings[*at]));
    let is_noted = |bug: &Vec<usize>| bug.iter().any(|at| answer.out.contains(&note(at)));
    assert!(bugs.iter().any(is_noted), "{}", answer.all());
}

/// Saves a changed copy of the finding beside it.
fn saved_as(stored: &Stored, name: &str, change: impl Fn(&mut Stored)) {
    let mut other = Stored::load(&stored.directory).expect("a finding");
    other.directory = stored.directory.with_file_name(name);
    other.finding.name = name.to_string();
    other.finding.signature = Signature::violation(name, [Op::Pop]);
    change(&mut other);
    other.save().expect("room");
}

fn moved(stored: &mut Stored, by: u32) {
    for row in &mut stored.interleaving.as_mut().expect("a table").rows {
        if let RowKind::Act { place: Some(place), .. } = &mut row.what {
            place.line += by;
        }
    }
}

#[test]
fn variants_of_one_bug_are_listed_with_it_and_others_are_not() {
    let tool = Tool::new();
    let run = tool.fuzz("atomic_register_split_cas").seed(5).rounds(400).jobs(1);
    let stored = run.findings(1).shrinking("8s").expect(1, &[]).stored();
    assert!(stored.interleaving.is_some(), "it is shrunk");
    saved_as(&stored, "variant", |_| {});
    tool.call("triage").expect(1, &["variant of pop", "2 distinct, 2 new", "most likely 1 bug."]);
    let json = tool.call("triage").json(1);
    assert_eq!(json["findings"][1]["signature"], "variant of pop", "after the first: {json}");
    assert_eq!(json["findings"][0]["bug"], json["findings"][1]["bug"], "{json}");
    // Other lines, another kind of rule, another model, a fault, or no table: in doubt, another
    // bug.
    saved_as(&stored, "elsewhere", |stored| moved(stored, 1000));
    saved_as(&stored, "ruled", |stored| {
        let Failure::Violation { rule, .. } = &mut stored.finding.what else {
            panic!("a violation")
        };
        *rule = "lost".to_string();
    });
    saved_as(&stored, "modelled", |stored| stored.finding.model = "map".to_string());
    saved_as(&stored, "untold", |stored| stored.interleaving = None);
    saved_as(&stored, "unsure", |stored| stored.finding.confirmed = Some(false));
    let json = tool.call("triage --json").expect(1, &[]).json();
    assert_eq!((&json["bugs"], &json["new"]), (&6.into(), &7.into()));
    let all = json["findings"].as_array().expect("findings");
    let variants = all.iter().filter(|finding| finding["bug"] == all[0]["bug"]);
    assert_eq!((all.len(), variants.count()), (7, 2));
    // Reports for other programs list each finding.
    let junit = tool.call("triage --junit -").run();
    assert_eq!(junit.out.matches("<failure ").count(), 7);
    // A new finding is never hidden by a known one.
    let known = "[[known]]\nname = 'split'\nsignature = 'variant of pop'\n";
    tool.write("known.toml", known);
    let json = tool.call("triage --known known.toml --json").expect(1, &[]).json();
    assert_eq!((&json["bugs"], &json["new"]), (&7.into(), &6.into()));
}

/// The wording of the table.
mod snapshots {
    use super::*;

    #[test]
    fn a_variant_is_also_seen() {
        let tool = Tool::new();
        let twin = tool.twin("atomic_register_split_cas");
        saved_as(&Stored::load(&twin).expect("a finding"), "variant", |_| {});
        tool.call("triage .").expect(1, &["also seen as variant of pop"]);
    }
}
