//! The coverage of the controlled engine in words: a table of the policies, and remarks.

use super::progress::short;
use crate::core::columns;
use crate::fuzz::{Coverage, Grown};

const HEAD: [&str; 5] = ["policy", "rounds", "findings", "schedules", "in last 10 s"];

/// ", 1200 schedules (+30/10 s), 80 pairs (+0/10 s)", for the end of a line. No pairs are not worth
/// a word.
pub fn in_line(coverage: &Coverage) -> String {
    let grown = |Grown { total, recent }: Grown, name: &str| {
        let recent = recent.map(|n| format!(" (+{}/10 s)", short(n as f64))).unwrap_or_default();
        format!(", {} {name}{recent}", short(total as f64))
    };
    let pairs = match coverage.pairs.total {
        0 => String::new(),
        _ => grown(coverage.pairs, "pairs"),
    };
    grown(coverage.schedules, "schedules") + &pairs
}

/// A line for each policy, and one for all.
pub fn table(coverage: &Coverage) -> String {
    let row = |name: &str, rounds: u64, hits: u64, Grown { total, recent }: Grown| {
        let recent = recent.map(|n| short(n as f64)).unwrap_or_default();
        let (rounds, total) = (short(rounds as f64), short(total as f64));
        [name.to_string(), rounds, hits.to_string(), total, recent]
    };
    let mut rows = vec![HEAD.map(str::to_string)];
    let policies = coverage.policies.iter();
    rows.extend(policies.map(|(name, of)| row(name, of.rounds, of.hits, of.schedules)));
    let hits = coverage.policies.values().map(|policy| policy.hits).sum();
    rows.push(row("all", coverage.rounds, hits, coverage.schedules));
    columns::table(&rows, 1..HEAD.len(), "  ")
}

/// Remarks about saturation and leaks.
pub fn remarks(coverage: &Coverage) -> Vec<String> {
    let mut remarks = Vec::new();
    if coverage.is_saturated() {
        remarks.push(
            "The last 10 s brought no new pair of accesses and hardly a new schedule: more time \
             is unlikely to find more with this plan. Try other --threads, --keys or --weight."
                .to_string(),
        );
    }
    if coverage.leaks() {
        let rounds = coverage.leaky_rounds as f64;
        let (blocks, bytes) = (coverage.leaked_blocks as f64, coverage.leaked_bytes as f64);
        let unhooked = Vec::from_iter(coverage.unhooked.iter().map(String::as_str)).join(", ");
        let why = match unhooked.as_str() {
            "" => "destroy or leave may not free everything that create, enter and the calls took."
                .to_string(),
            names => format!(
                "It may be no leak: what {names} keeps for later is not seen, because its code has \
                 no hooks."
            ),
        };
        remarks.push(format!(
            "warning: most rounds leave memory behind: {:.1} blocks, {:.0} bytes in each of {} \
             rounds. {why}",
            blocks / rounds,
            bytes / rounds,
            short(rounds)
        ));
    }
    remarks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz::Policy;

    #[test]
    fn coverage_has_a_row_for_each_policy_and_remarks() {
        let schedules = Grown { total: 900, recent: Some(0) };
        let policy = Policy { rounds: 2000, hits: 3, schedules };
        let mut coverage = Coverage {
            rounds: 2000,
            recent_rounds: Some(500),
            policies: [("pct:3".to_string(), policy)].into(),
            schedules,
            pairs: Grown { total: 40, recent: Some(0) },
            leaky_rounds: 1500,
            leaked_blocks: 3000,
            leaked_bytes: 96_000,
            unhooked: [].into(),
            waits: 0,
        };
        assert_eq!(in_line(&coverage), ", 900 schedules (+0/10 s), 40 pairs (+0/10 s)");
        let none = Coverage { pairs: Grown::default(), ..coverage.clone() };
        assert_eq!(in_line(&none), ", 900 schedules (+0/10 s)");
        let expected = "
  policy  rounds  findings  schedules  in last 10 s
  pct:3     2000         3        900             0
  all       2000         3        900             0
";
        assert_eq!(table(&coverage), expected[1..]);
        let shown = remarks(&coverage);
        assert!(shown[0].contains("more time is unlikely to find more with this plan"));
        assert!(shown[1].contains("2.0 blocks, 64 bytes in each of 1500 rounds"), "{shown:?}");
        assert!(shown[1].contains("may not free everything"), "{shown:?}");
        coverage.unhooked.insert("libpart.so".to_string());
        let shown = remarks(&coverage);
        assert!(shown[1].contains("no leak: what libpart.so keeps"), "{shown:?}");
    }
}
