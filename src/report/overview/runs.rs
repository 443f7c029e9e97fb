//! Sections of a run's page: findings, figures, growth, policies, and the circumstances of each
//! run.

use maud::{Markup, html};

use super::Found;
use super::chart::Chart;
use super::html::{Cell, Row, Section, facts, grouped, percent, table};
use crate::campaign::ledger::{Circumstances, Ledger, Part};
use crate::fuzz::{Coverage, Ending, Point, Statistics};
use crate::report::coverage;
use crate::report::progress::short;
use crate::view::explanation::undecided;

pub fn findings(found: &[Found]) -> Option<Section> {
    let row = |found: &Found| {
        let after = format!("{:.1} s", found.after_seconds);
        let confirmed = match found.confirmed {
            Some(true) => "in a fresh process",
            Some(false) => "not in a fresh process",
            None => "",
        };
        let cells = vec![
            Cell::Text(found.signature.clone()),
            Cell::Text(after),
            Cell::Count(found.sightings),
            Cell::Text(confirmed.to_string()),
            Cell::Links(vec![(found.link.clone(), "page".to_string())]),
        ];
        (found.name.clone(), cells)
    };
    let rows: Vec<Row> = found.iter().map(row).collect();
    let names = ["Finding", "What", "First after", "Seen", "Reproduced", "More"];
    let html = table("", "Distinct findings, in the order of their first sightings", &names, &rows);
    (!found.is_empty()).then_some(Section { id: "findings", title: "Findings", html })
}

/// Rounds, verdicts, rates.
pub fn figures(statistics: &Statistics) -> Section {
    let seconds = statistics.elapsed.as_secs_f64().max(1e-3);
    let undecided = statistics.undecided();
    let explained = statistics.rounds.saturating_sub(statistics.violations + undecided);
    let overlap = statistics.overlap();
    let rate = |count: u64| short(count as f64 / seconds);
    let mut rows = vec![
        ("Rounds", format!("{}, {} a second", grouped(statistics.rounds), rate(statistics.rounds))),
        (
            "Operations",
            format!("{}, {} a second", grouped(statistics.operations), rate(statistics.operations)),
        ),
        ("Overlapping", format!("{} of the operations", percent(overlap))),
        ("Time", format!("{seconds:.1} s")),
        ("Explained", format!("{} rounds", grouped(explained))),
        ("Violations", format!("{} rounds", grouped(statistics.violations))),
    ];
    if undecided > 0 {
        rows.push(("Not decided", format!("{} rounds", grouped(undecided))));
    }
    for (reason, rounds) in &statistics.inconclusive {
        rows.push(("", format!("{}: {}", grouped(*rounds), undecided::reason(reason))));
    }
    rows.push(("Faults", format!("{} harness processes ended in one", statistics.faults)));
    if statistics.processes > 0 {
        rows.push(("Processes", format!("{} harness processes started", statistics.processes)));
    }
    if statistics.calls_per_second_max > 0.0 {
        let most = short(statistics.calls_per_second_max);
        rows.push(("Fastest round", format!("{most} calls a second")));
    }
    Section { id: "figures", title: "Figures", html: facts(&rows) }
}

/// Rounds and count of a point, if it has the count.
type Count = fn(&Point) -> Option<(u64, u64)>;

/// The counts with curves: element, title, what is counted in the plural.
fn counts() -> [(&'static str, &'static str, &'static str, Count); 4] {
    [
        ("schedules", "Schedules", "distinct schedules", |point| {
            Some((point.rounds, point.schedules?))
        }),
        ("accesses", "Pairs of accesses", "distinct pairs of a write and a read", |point| {
            Some((point.rounds, point.pairs?))
        }),
        ("shapes", "Shapes of rounds", "distinct orders of calls and returns", |point| {
            Some((point.looked, point.shapes))
        }),
        ("combinations", "Pairs of answers", "distinct pairs of answers at once", |point| {
            Some((point.looked, point.combinations))
        }),
    ]
}

/// The curves of the counts.
pub fn growth(ledger: &Ledger) -> Option<Section> {
    let runs: Vec<&[Point]> = ledger.parts.iter().map(|part| &part.curve[..]).collect();
    let chart = |(id, title, what, count): (_, _, _, Count)| {
        let points = |run: &&[Point]| -> Vec<(u64, u64)> { run.iter().filter_map(count).collect() };
        let rounds =
            if matches!(id, "schedules" | "accesses") { "rounds" } else { "rounds looked at" };
        Chart { id, title, what, rounds, runs: runs.iter().map(points).collect() }.draw()
    };
    let charts: Vec<Markup> = counts().into_iter().filter_map(chart).collect();
    let remarks = ledger.statistics.coverage.as_ref().map(coverage::remarks).unwrap_or_default();
    let html = html! {
        @for remark in &remarks { p { (remark) } }
        .charts { @for chart in &charts { (chart) } }
    };
    (!charts.is_empty()).then_some(Section { id: "growth", title: "Growth", html })
}

pub fn policies(coverage: &Coverage) -> Section {
    let rows: Vec<Row> = coverage
        .policies
        .iter()
        .map(|(name, policy)| {
            let share = policy.rounds as f64 / coverage.rounds.max(1) as f64;
            let cells = vec![
                Cell::Count(policy.rounds),
                Cell::Share(share),
                Cell::Count(policy.hits),
                Cell::Count(policy.schedules.total),
            ];
            (name.clone(), cells)
        })
        .collect();
    let names = ["Policy", "Rounds", "Share", "Violations and faults", "New schedules"];
    let html = table("", "What each scheduling policy brought", &names, &rows);
    Section { id: "policies", title: "Policies", html }
}

/// Plan, versions, machine and time of each run.
pub fn circumstances(ledger: &Ledger) -> Section {
    let are_several = ledger.parts.len() > 1;
    let html = html! {
        @for (at, part) in ledger.parts.iter().enumerate() {
            @if are_several { h3 { "Run " (at + 1) } }
            (facts(&rows(ledger, part)))
        }
    };
    let title = if are_several { "Runs" } else { "Run" };
    Section { id: "runs", title, html }
}

fn rows(ledger: &Ledger, part: &Part) -> Vec<(&'static str, String)> {
    let Part { plan, shard, jobs, .. } = part;
    let mut rows = vec![("Command", plan.to_string())];
    if shard.count > 1 {
        rows.push(("Shard", shard.to_string()));
    }
    rows.push(("Jobs", jobs.to_string()));
    if !ledger.library.is_empty() {
        rows.push(("Library", ledger.library.clone()));
    }
    rows.push(("Adapter", plan.build.adapter.clone()));
    let Some(known) = &part.circumstances else { return rows };
    let Circumstances { machine, target, clock, .. } = known;
    if !known.packages.is_empty() {
        rows.push(("Packages", known.packages.join(", ")));
    }
    rows.push(("Compiler", known.compiler.clone()));
    if !known.flags.is_empty() {
        rows.push(("Flags", known.flags.join(" ")));
    }
    if target.capacity > 0 {
        rows.push(("Capacity", format!("{} values", target.capacity)));
    }
    rows.push(("Machine", machine.sentence()));
    let (factor, unit) = (clock.shown().factor, clock.shown().name);
    rows.push((
        "Clock",
        match clock.nanoseconds_per_unit {
            0.0 => unit.to_string(),
            _ => format!("{:?}, {factor:.3} {unit} a unit", clock.clock).to_lowercase(),
        },
    ));
    rows.push(("interlap", known.interlap.clone()));
    rows.push(("Began", date(known.began)));
    let (seconds, rounds) = (known.seconds, grouped(known.rounds));
    rows.push(("Did", format!("{rounds} rounds in {seconds:.1} s; {}", ended(known.ended))));
    rows
}

/// Seconds since 1970 as a date and time in UTC (Hinnant, "chrono-compatible low-level date
/// algorithms", civil_from_days).
fn date(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400 + 719_468, seconds % 86_400);
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + 400 * era + u64::from(month <= 2);
    let (hour, minute) = (rest / 3600, rest / 60 % 60);
    format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02} UTC")
}

/// Why a run ended.
fn ended(ending: Ending) -> &'static str {
    match ending {
        Ending::Time => "the time was up",
        Ending::Rounds => "all rounds were done",
        Ending::Findings => "there were as many findings as wanted",
        Ending::Wanted => "the wanted finding was seen",
        Ending::Stopped => "stopped by hand",
        Ending::NotSequential => "the target fails even when called from one thread at a time",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(date(0), "1970-01-01 00:00 UTC");
        assert_eq!(date(951_827_696), "2000-02-29 12:34 UTC");
        assert_eq!(date(1_798_761_599), "2026-12-31 23:59 UTC");
        assert_eq!(date(1_798_761_600), "2027-01-01 00:00 UTC");
    }
}
