//! Draws the curves of a count as SVG, with a caption that says the same in words.

use maud::{Markup, html};

use super::html::{grouped, percent};
use crate::report::progress::short;

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 230.0;
/// Margins, which hold the numbers of the axes.
const LEFT: f64 = 58.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 40.0;
/// Most runs whose curves are named.
const NAMED_MAX: usize = 4;

/// A count that grew with the rounds.
pub struct Chart<'a> {
    /// The id of its element.
    pub id: &'a str,
    pub title: &'a str,
    /// What is counted, in the plural.
    pub what: &'a str,
    /// What rounds are called: "rounds".
    pub rounds: &'a str,
    /// The points of each run: rounds and count, both ascending.
    pub runs: Vec<Vec<(u64, u64)>>,
}

impl Chart<'_> {
    /// The figure; none where no run has points.
    pub fn draw(&self) -> Option<Markup> {
        let ends: Vec<(u64, u64)> =
            self.runs.iter().filter_map(|run| run.last().copied()).collect();
        let rounds = ends.iter().map(|end| end.0).max()?;
        let most = ends.iter().map(|end| end.1).max().filter(|most| *most > 0)?;
        let x = Axis::until(rounds, LEFT, WIDTH - RIGHT);
        let y = Axis::up_to(most, HEIGHT - BOTTOM, TOP);
        let Chart { id, title, .. } = self;
        let (view, says) = (format!("0 0 {WIDTH} {HEIGHT}"), format!("{id}-says"));
        Some(html! {
            figure {
                h3 id=(id) { (title) }
                svg viewBox=(view) role="img" aria-labelledby=(id) aria-describedby=(says) {
                    (axes(&x, &y, self.rounds))
                    (self.curves(&x, &y))
                }
                figcaption id=(says) { (self.caption()) }
            }
        })
    }

    fn curves(&self, x: &Axis, y: &Axis) -> Markup {
        let drawn = self.runs.iter().filter(|run| !run.is_empty()).count();
        let place = |(rounds, count): (u64, u64)| (x.at(rounds), y.at(count));
        let points = |run: &[(u64, u64)]| {
            let places = std::iter::once((0, 0)).chain(run.iter().copied()).map(place);
            places.map(|(x, y)| format!("{x:.1},{y:.1}")).collect::<Vec<_>>().join(" ")
        };
        html! {
            @for (at, run) in self.runs.iter().enumerate() {
                @if let Some((right, up)) = run.last().map(|end| place(*end)) {
                    polyline.curve points=(points(run)) {}
                    circle.end cx=(tenth(right)) cy=(tenth(up)) r="3.5" {}
                    @if drawn > 1 && drawn <= NAMED_MAX {
                        text.label x=(tenth(right - 8.0)) y=(tenth(up + 18.0)) text-anchor="end" {
                            "run " (at + 1)
                        }
                    }
                }
            }
        }
    }

    /// The curves in words.
    fn caption(&self) -> String {
        let (what, of) = (self.what, self.rounds);
        let sentences = self.runs.iter().enumerate().filter_map(|(number, run)| {
            let (rounds, count) = *run.last()?;
            let new = count.saturating_sub(count_at(run, rounds - rounds / 10));
            let share = percent(new as f64 / count.max(1) as f64);
            let name =
                if self.runs.len() > 1 { format!("Run {}: ", number + 1) } else { "".into() };
            let (count, rounds, new) = (grouped(count), grouped(rounds), grouped(new));
            Some(format!(
                "{name}{count} {what} after {rounds} {of}; {new} of them ({share}) came with the \
                 last tenth of the rounds."
            ))
        });
        sentences.collect::<Vec<_>>().join(" ")
    }
}

/// The count after so many rounds, interpolated like the curve.
fn count_at(run: &[(u64, u64)], rounds: u64) -> u64 {
    let mut before = (0, 0);
    for &point in run {
        if point.0 >= rounds {
            let (wide, high) = (point.0 - before.0, point.1 - before.1);
            return before.1 + high * (rounds - before.0) / wide.max(1);
        }
        before = point;
    }
    before.1
}

/// Maps counts to coordinates.
struct Axis {
    /// The distance of marks.
    step: u64,
    end: u64,
    from: f64,
    to: f64,
}

impl Axis {
    /// With at most six marks at round numbers, the last at or above `most`.
    fn up_to(most: u64, from: f64, to: f64) -> Axis {
        let mut step = 1u64;
        while most.div_ceil(step) > 5 {
            // 1, 2, 5, 10, 20, 50, ...
            let power = 10u64.pow(step.ilog10());
            step = match step / power {
                1 => 2 * power,
                2 => 5 * power,
                _ => 10 * power,
            };
        }
        Axis { step, end: most.div_ceil(step).max(1) * step, from, to }
    }

    /// The same, but ends at `most`.
    fn until(most: u64, from: f64, to: f64) -> Axis {
        Axis { end: most.max(1), ..Axis::up_to(most, from, to) }
    }

    fn at(&self, count: u64) -> f64 {
        self.from + (self.to - self.from) * count as f64 / self.end as f64
    }

    fn marks(&self) -> impl Iterator<Item = u64> {
        (0..=self.end).step_by(self.step as usize)
    }
}

/// A count at a mark: 500, 10 k, 1.5 M.
fn plain(mark: u64) -> String {
    let text = short(mark as f64);
    let (number, unit) = text.split_once(' ').unwrap_or((&text, ""));
    let number = match number.contains('.') {
        true => number.trim_end_matches('0').trim_end_matches('.'),
        false => number,
    };
    format!("{number} {unit}").trim_end().to_string()
}

/// A coordinate.
fn tenth(at: f64) -> String {
    format!("{at:.1}")
}

fn axes(x: &Axis, y: &Axis, rounds: &str) -> Markup {
    let line = |class: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64)| {
        html! { line class=(class) x1=(tenth(x1)) y1=(tenth(y1)) x2=(tenth(x2)) y2=(tenth(y2)) {} }
    };
    let text = |anchor: &str, x: f64, y: f64, text: &str| {
        html! { text x=(tenth(x)) y=(tenth(y)) text-anchor=(anchor) { (text) } }
    };
    let (bottom, right) = (HEIGHT - BOTTOM, WIDTH - RIGHT);
    html! {
        @for (mark, up) in y.marks().map(|mark| (mark, y.at(mark))) {
            (line(if mark == 0 { "axis" } else { "grid" }, (LEFT, up), (right, up)))
            (text("end", LEFT - 6.0, up + 4.0, &plain(mark)))
        }
        @for (mark, x) in x.marks().map(|mark| (mark, x.at(mark))) {
            (line("axis", (x, bottom), (x, bottom + 4.0)))
            (text("middle", x, bottom + 17.0, &plain(mark)))
        }
        (text("end", right, HEIGHT - 5.0, rounds))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_end_at_round_numbers() {
        let ends = |most| {
            let axis = Axis::up_to(most, 0.0, 1.0);
            (axis.step, axis.end)
        };
        assert_eq!([500, 50_000, 1_500_000].map(plain), ["500", "50 k", "1.5 M"]);
        assert_eq!(ends(0), (1, 1));
        assert_eq!(ends(5), (1, 5));
        assert_eq!(ends(6), (2, 6));
        assert_eq!(ends(23), (5, 25));
        assert_eq!(ends(1_234_567), (500_000, 1_500_000));
        for most in 0..2000 {
            let (step, end) = ends(most * most);
            assert!(end >= most * most && end / step <= 5, "{most}");
        }
    }

    #[test]
    fn a_chart_says_what_it_shows() {
        assert_eq!(
            [0, 50, 100, 150, 500].map(|at| count_at(&[(100, 10), (200, 12)], at)),
            [0, 5, 10, 11, 12]
        );
        let runs = vec![vec![(500, 80), (900, 90), (1000, 100)]];
        let chart =
            Chart { id: "c", title: "Schedules", what: "schedules", rounds: "rounds", runs };
        let svg = chart.draw().expect("a curve").into_string();
        let says = "100 schedules after 1\u{202f}000 rounds; 10 of them (10 %) came with the last";
        assert!(svg.contains(says), "{svg}");
        assert!(svg.contains("role=\"img\" aria-labelledby=\"c\" aria-describedby=\"c-says\""));
        assert!(Chart { runs: vec![Vec::new()], ..chart }.draw().is_none());
    }
}
