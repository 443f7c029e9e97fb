//! Keeps the growth of a run's counts over time as a bounded number of points.
//! The points are about equally far apart in time.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The number of points at which every other one is removed.
const POINTS_MAX: usize = 200;
/// Time between points at first.
const STEP: Duration = Duration::from_millis(50);

/// The counts of a run at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Point {
    pub seconds: f64,
    pub rounds: u64,
    /// Distinct schedules and pairs of accesses, for the controlled engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedules: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairs: Option<u64>,
    /// The rounds that were analysed, from which the counts below come.
    pub looked: u64,
    /// Distinct pairs of answers whose calls overlapped.
    pub combinations: u64,
    /// Distinct orders of invocations and responses.
    pub shapes: u64,
}

pub struct Curve {
    points: Vec<Point>,
    step: Duration,
}

impl Default for Curve {
    fn default() -> Curve {
        Curve { points: Vec::new(), step: STEP }
    }
}

impl Curve {
    /// Whether it is time for another point.
    pub fn is_due(&self, elapsed: Duration) -> bool {
        let last = self.points.last().map_or(0.0, |point| point.seconds);
        elapsed.as_secs_f64() >= last + self.step.as_secs_f64()
    }

    /// Adds a point, unless there were no rounds yet.
    pub fn push(&mut self, point: Point) {
        if point.rounds == 0 {
            return;
        }
        self.points.push(point);
        if self.points.len() >= POINTS_MAX {
            let mut at = 0;
            self.points.retain(|_| {
                at += 1;
                at % 2 == 0
            });
            self.step *= 2;
        }
    }

    /// All points, the last one at the end of the run.
    pub fn finish(mut self, end: Point) -> Vec<Point> {
        if self.points.last() != Some(&end) {
            self.push(end);
        }
        self.points
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_run_keeps_few_points_at_even_distances() {
        let mut curve = Curve::default();
        let point =
            |tick: u64| Point { seconds: tick as f64 * 0.05, rounds: tick, ..Point::default() };
        let ticks = 100_000;
        for tick in 0..ticks {
            if curve.is_due(Duration::from_millis(50 * tick)) {
                curve.push(point(tick));
            }
        }
        let points = curve.finish(point(ticks));
        assert!((POINTS_MAX / 2..=POINTS_MAX).contains(&points.len()), "{}", points.len());
        let steps: Vec<u64> = points.windows(2).map(|two| two[1].rounds - two[0].rounds).collect();
        let (least, most) = (steps[..steps.len() - 1].iter().min(), steps.iter().max());
        assert!(least >= Some(&512) && most <= Some(&2048), "{steps:?}");
        assert_eq!(points.last().map(|last| last.rounds), Some(ticks));
    }
}
