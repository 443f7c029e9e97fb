//! Which memory orders a target's calls need: the table of `interlap orders`, in words and as JSON.

use std::path::Path;
use std::time::Duration;

use serde::Serialize;

use super::words::counted;
use crate::campaign::orders::{Blind, Noticed, ORDERS_FILE, Orders, Row, Trial, Unreached};
use crate::core::columns;
use crate::core::memory_order::{MemoryOrder, Ordered};
use crate::core::plan::{Plan, quoted};
use crate::finding::Finding;

/// What `interlap orders --json` prints.
#[derive(Serialize)]
pub struct Json<'a> {
    plan: &'a Plan,
    /// The rounds of each trial.
    rounds: u64,
    rows: Vec<JsonRow<'a>>,
    /// Weaker orders that were tried, and those with which something was found.
    tried: usize,
    noticed: usize,
    /// Whether all were tried.
    complete: bool,
    unreached: &'a [Unreached],
    blind: &'a Blind,
}

#[derive(Serialize)]
struct JsonRow<'a> {
    #[serde(flatten)]
    row: &'a Row,
    /// The weakest orders with which nothing was found; null: not all were tried.
    weakest: Option<Vec<MemoryOrder>>,
}

impl<'a> Json<'a> {
    pub fn new(orders: &'a Orders) -> Json<'a> {
        let Orders { plan, rounds, rows, unreached, blind, .. } = orders;
        let (tried, noticed) = orders.score();
        let row = |row: &'a Row| JsonRow { row, weakest: row.weakest() };
        let (rows, complete) = (rows.iter().map(row).collect(), orders.is_complete());
        Json { plan, rounds: *rounds, rows, tried, noticed, complete, unreached, blind }
    }
}

/// Most accesses that are listed because no round made them.
const UNREACHED_MAX: usize = 12;

pub const HEADS: [&str; 5] = ["line", "access", "written", "weakest", "what a weaker one shows"];

/// The command line that makes the table.
pub fn command(plan: &Plan, rounds: u64) -> String {
    let line = plan.to_string().replacen("interlap fuzz", "interlap orders", 1);
    format!("{line} --rounds {rounds}")
}

/// The table, what it comes to, and where it lies.
pub fn text(orders: &Orders, directory: &Path) -> String {
    let rows = orders.rows.iter().filter(|row| has_weaker(row));
    let lines: Vec<_> =
        std::iter::once(HEADS.map(str::to_string)).chain(rows.flat_map(lines)).collect();
    let table = columns::table(&lines, 0..0, "");
    let table = if lines.len() > 1 { table + "\n" } else { String::new() };
    let mut all = sentences(orders);
    let mut found = orders.rows.iter().flat_map(noticed);
    if let Some((_, first)) = found.next() {
        let first = directory.join(&first.directory).display().to_string();
        all.push(format!("What each shows lies in {}, as the first:", directory.display()));
        all.push(format!("  interlap explain {}", quoted(&first)));
    }
    table + &all.join("\n") + "\n"
}

/// The lines of a row: one for each weaker order that was noticed.
fn lines(row: &Row) -> Vec<[String; 5]> {
    let mut found = noticed(row).map(|(trial, found)| finding(row, trial, found));
    let [line, access, written, weakest] = cells(row);
    let mut lines = vec![[line, access, written, weakest, found.next().unwrap_or_default()]];
    lines.extend(found.map(|found| {
        let [line, access, written, weakest] = [const { String::new() }; 4];
        [line, access, written, weakest, found]
    }));
    lines
}

/// Why nothing is weakened where something is found as it is.
pub fn found_as_written(finding: &Finding, directory: &Path) -> String {
    format!(
        "{} is found with all orders as they are written, in {}. What a weaker one shows can be \
         told only where nothing is found without it: mend that first, name it as known (--known), \
         or leave out the calls that show it (--weight OP=0)",
        finding.signature,
        directory.display()
    )
}

pub fn too_short(rounds: u64) -> String {
    format!(
        "stopped before {rounds} rounds were made with the orders as they are written: no order \
         was weakened; give it more time (--for), or fewer rounds (--rounds)"
    )
}

/// How far it is, in a line.
pub fn progress(orders: &Orders, elapsed: Duration, left: Duration) -> String {
    let (tried, noticed) = orders.score();
    let done = orders.rows.iter().filter(|row| row.next().is_none()).count();
    format!(
        "{:.0} s: {done} of {} orders done; {tried} weaker ones tried, {noticed} noticed, \
         {} s left at most",
        elapsed.as_secs_f64(),
        orders.rows.len(),
        left.as_secs()
    )
}

/// Whether an order is written that can be weaker.
pub fn has_weaker(row: &Row) -> bool {
    row.place.order != MemoryOrder::Relaxed
}

/// Line, access, the order as written, and the weakest one with which nothing was found.
pub fn cells(row: &Row) -> [String; 4] {
    let place = &row.place;
    let names = |orders: Vec<MemoryOrder>| {
        let names = orders.into_iter().map(|order| name(order, place.of));
        names.collect::<Vec<_>>().join(" or ")
    };
    let weakest = row.weakest().map_or_else(|| "not all tried".to_string(), names);
    let line = format!("{}:{}", place.file, place.line);
    [line, access(place.of).to_string(), place.order.to_string(), weakest]
}

fn name(order: MemoryOrder, of: Ordered) -> String {
    match (order, of) {
        (MemoryOrder::Relaxed, Ordered::Fence) => "no fence".to_string(),
        _ => order.to_string(),
    }
}

fn access(of: Ordered) -> &'static str {
    match of {
        Ordered::Load => "load",
        Ordered::Store => "store",
        Ordered::Update => "read-modify-write",
        Ordered::Compare => "compare-exchange",
        Ordered::Failure => "... if it fails",
        Ordered::Fence => "fence",
    }
}

/// The trials with which something was found.
pub fn noticed(row: &Row) -> impl Iterator<Item = (&Trial, &Noticed)> {
    row.trials.iter().filter_map(|trial| Some((trial, trial.noticed.as_ref()?)))
}

pub fn finding(row: &Row, trial: &Trial, found: &Noticed) -> String {
    format!("{}: {}, round {}", name(trial.to, row.place.of), found.what, found.round)
}

/// In a few sentences: how many weaker orders were noticed, and what that leaves open.
pub fn sentences(orders: &Orders) -> Vec<String> {
    let mut all = vec![score(orders)];
    match orders.rows.iter().filter(|row| row.is_stronger_than_needed()).count() {
        0 => {}
        count => all.push(format!(
            "{} written stronger than these rounds need: nothing needs it, no round comes to \
             where it is needed, or it keeps a load from reading what is stored later, which is \
             not tried.",
            are(count, "order")
        )),
    }
    let relaxed = orders.rows.iter().filter(|row| !has_weaker(row)).count();
    if relaxed > 0 && relaxed < orders.rows.len() {
        all.push(format!("{} relaxed already.", are(relaxed, "more")));
    }
    if !orders.unreached.is_empty() {
        let place = |of: &Unreached| format!("{}:{} ({})", of.file, of.line, access(of.of));
        let listed = orders.unreached.iter().take(UNREACHED_MAX).map(place);
        let places = listed.collect::<Vec<String>>().join(", ");
        let more = match orders.unreached.len().saturating_sub(UNREACHED_MAX) {
            0 => String::new(),
            count => format!(", and {count} more, which {ORDERS_FILE} has"),
        };
        all.push(format!("Never made in these rounds, so not tried: {places}{more}."));
    }
    if orders.undecided() > 0 {
        all.push(format!(
            "Where nothing was noticed, {} not decided, and may be wrong: fewer calls or threads \
             are decided sooner.",
            are(orders.undecided() as usize, "round")
        ));
    }
    all.extend(blind(&orders.blind));
    if !orders.is_complete() {
        all.push("Not all were tried: the same command goes on.".to_string());
    }
    all
}

fn score(orders: &Orders) -> String {
    let (tried, noticed) = orders.score();
    if orders.rows.is_empty() {
        return "The rounds made no atomic access and no fence of the target's own.".to_string();
    }
    if orders.rows.iter().all(|row| !has_weaker(row)) {
        return "All orders are relaxed already.".to_string();
    }
    if tried == 0 {
        return "No weaker order was tried yet.".to_string();
    }
    let share = 100.0 * noticed as f64 / tried as f64;
    format!(
        "{noticed} of {} that were tried were noticed ({share:.0} %), in up to {} rounds each.",
        counted(tried as u64, "weaker order"),
        orders.rounds
    )
}

/// "3 orders are", "1 more is".
fn are(count: usize, noun: &str) -> String {
    match (count, noun) {
        (1, _) => format!("1 {noun} is"),
        (_, "more") => format!("{count} more are"),
        _ => format!("{count} {noun}s are"),
    }
}

/// Why fewer may be noticed than should be.
fn blind(blind: &Blind) -> Vec<String> {
    let mut all = Vec::new();
    if !blind.unhooked.is_empty() {
        all.push(format!(
            "Fewer weaker orders are noticed than should be: {} without hooks may order accesses \
             unseen, so that races are not told, and after one a round reads the last stores.",
            blind.unhooked.join(", ")
        ));
    }
    if blind.accepts_races {
        all.push(
            "Fewer weaker orders are noticed than should be: after a race that the adapter \
             accepts, a round reads the last stores."
                .to_string(),
        );
    }
    all
}
