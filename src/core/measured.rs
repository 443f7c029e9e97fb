//! How often a finding recurs, measured over repeated rounds.
//! Gives the share of rounds that showed it, its confidence interval, and the time to wait for one.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The normal distribution has 95 % of its weight within this many standard deviations.
const DEVIATIONS: f64 = 1.959_963_984_540_054;
/// An event of a Poisson process occurs within this many mean intervals with a probability of
/// 95 %: ln 20.
pub const INTERVALS_FOR_95_PERCENT: f64 = 2.995_732_273_553_991;

/// Rounds of the same calls.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    pub rounds: u64,
    /// The rounds that showed the finding: a finding with the stored signature.
    pub shown: u64,
    pub seconds: f64,
}

impl Measured {
    /// The share of rounds that showed it, from 0 to 1.
    pub fn share(&self) -> f64 {
        self.shown as f64 / self.rounds.max(1) as f64
    }

    /// The 95 % confidence interval of the share: the score interval for a binomial proportion
    /// (Wilson: Probable Inference, the Law of Succession, and Statistical Inference, JASA 22,
    /// 1927; recommended for small counts by Brown, Cai, DasGupta: Interval Estimation for a
    /// Binomial Proportion, Statistical Science 16, 2001).
    pub fn interval(&self) -> (f64, f64) {
        let (n, p, z2) = (self.rounds.max(1) as f64, self.share(), DEVIATIONS * DEVIATIONS);
        let middle = (p + z2 / (2.0 * n)) / (1.0 + z2 / n);
        let half = DEVIATIONS / (1.0 + z2 / n) * (p * (1.0 - p) / n + z2 / (4.0 * n * n)).sqrt();
        let low = if self.shown == 0 { 0.0 } else { middle - half };
        let high = if self.shown >= self.rounds { 1.0 } else { middle + half };
        (low, high)
    }

    /// Mean seconds from one round that showed it to the next; none if no round did.
    pub fn seconds_each(&self) -> Option<f64> {
        (self.shown > 0).then(|| self.seconds / self.shown as f64)
    }

    /// Seconds in which a round shows it with a probability of 95 %.
    pub fn seconds_for_one(&self) -> Option<f64> {
        self.seconds_each().map(|seconds| seconds * INTERVALS_FOR_95_PERCENT)
    }

    /// "0.017 % of rounds; with 95 % confidence 0.0082 to 0.035 %".
    pub fn certainty(&self) -> String {
        let (low, high) = self.interval();
        let percent = |share: f64| two_digits(100.0 * share);
        let (share, low, high) = (percent(self.share()), percent(low), percent(high));
        format!("{share} % of rounds; with 95 % confidence {low} to {high} %")
    }
}

/// "in 7 of 41200 rounds, about one every 0.4 s".
impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "in {} of {} rounds", self.shown, self.rounds)?;
        match self.seconds_each() {
            Some(seconds) => write!(f, ", about one every {}", time(seconds)),
            None => Ok(()),
        }
    }
}

/// "0.4 s", "12 ms", "3 min".
pub fn time(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{} us", two_digits(1e6 * s)),
        s if s < 0.1 => format!("{} ms", two_digits(1e3 * s)),
        s if s < 120.0 => format!("{} s", two_digits(s)),
        s => format!("{} min", two_digits(s / 60.0)),
    }
}

/// With two significant digits.
fn two_digits(number: f64) -> String {
    if number <= 0.0 {
        return "0".to_string();
    }
    let places = 1 - number.log10().floor() as i32;
    // Rounding may add a digit: 9.96 becomes 10.
    let rounded = (number * 10f64.powi(places)).round() / 10f64.powi(places);
    let places = if rounded > 0.0 { 1 - rounded.log10().floor() as i32 } else { places };
    let text = format!("{rounded:.*}", places.max(0) as usize);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(shown: u64, rounds: u64) -> Measured {
        Measured { rounds, shown, seconds: 2.0 }
    }

    /// Method 3 in Newcombe: Two-Sided Confidence Intervals for the Single Proportion, Statistics
    /// in Medicine 17, 1998, table I.
    #[test]
    fn intervals_equal_published_ones() {
        for (shown, rounds, low, high) in [
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0, 0.1611),
            (1, 29, 0.0061, 0.1718),
        ] {
            let (l, h) = measured(shown, rounds).interval();
            assert!((l - low).abs() < 5e-5 && (h - high).abs() < 5e-5, "{shown}/{rounds} {l} {h}");
        }
        // A share of 100 % mirrors one of 0 %.
        assert_eq!(measured(20, 20).interval().1, 1.0);
        assert!((measured(20, 20).interval().0 - (1.0 - 0.1611)).abs() < 5e-5);
    }

    #[test]
    fn more_rounds_narrow_the_interval() {
        let width = |n: u64| {
            let (low, high) = measured(n, 100 * n).interval();
            assert!(low < 0.01 && 0.01 < high);
            high - low
        };
        assert!([1, 10, 100, 1000].windows(2).all(|n| width(n[1]) < width(n[0])));
    }

    #[test]
    fn a_measurement_in_words() {
        let some = Measured { rounds: 41_200, shown: 7, seconds: 2.8 };
        assert_eq!(some.to_string(), "in 7 of 41200 rounds, about one every 0.4 s");
        let certainty = "0.017 % of rounds; with 95 % confidence 0.0082 to 0.035 %";
        assert_eq!(some.certainty(), certainty);
        let never = measured(0, 10);
        assert_eq!(never.to_string(), "in 0 of 10 rounds");
        assert_eq!(never.certainty(), "0 % of rounds; with 95 % confidence 0 to 28 %");
        assert_eq!(never.seconds_for_one(), None);
        // An event that occurs once a second stays away for three seconds with a chance of 5 %.
        let wait = measured(2, 10).seconds_for_one().expect("it was shown");
        assert!(((-wait).exp() - 0.05).abs() < 1e-12);
    }

    #[test]
    fn two_digits_are_significant() {
        let all = [0.0, 0.017_01, 0.996, 9.96, 12.3, 99.6, 1234.0, 0.4, 4e-7];
        let words = all.map(two_digits);
        assert_eq!(words, ["0", "0.017", "1", "10", "12", "100", "1200", "0.4", "0.0000004"]);
        assert_eq!(
            (time(0.012), time(0.4), time(300.0)),
            ("12 ms".into(), "0.4 s".into(), "5 min".into())
        );
    }
}
