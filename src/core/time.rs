//! How long work may take, as one value that all its parts look at.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// What is under way when the time is over may take so much longer: to be judged and made sure of.
/// With the writing that follows, it ends within the two seconds that users are promised.
const GRACE: Duration = Duration::from_millis(1500);

/// The time of some work, counted from when it begins. Clones begin together.
#[derive(Clone, Debug)]
pub struct TimeLimit {
    /// None: for ever.
    most: Option<Duration>,
    grace: Duration,
    begun: Arc<OnceLock<Instant>>,
}

impl TimeLimit {
    pub fn none() -> TimeLimit {
        TimeLimit { most: None, grace: GRACE, begun: Arc::default() }
    }

    /// So long from when it begins.
    pub fn of(most: Duration) -> TimeLimit {
        TimeLimit { most: Some(most), ..TimeLimit::none() }
    }

    /// So long from now on.
    pub fn from_now(most: Duration) -> TimeLimit {
        let time = TimeLimit::of(most);
        time.begin();
        time
    }

    /// As this one, but what is under way at the end has so much longer.
    pub fn and_then(self, more: Duration) -> TimeLimit {
        TimeLimit { grace: self.grace + more, ..self }
    }

    pub fn most(&self) -> Option<Duration> {
        self.most
    }

    /// The work begins now, unless it has.
    pub fn begin(&self) {
        self.begun.get_or_init(Instant::now);
    }

    /// When it is over; none before it has begun.
    pub fn end(&self) -> Option<Instant> {
        self.begun.get()?.checked_add(self.most?)
    }

    /// When what is under way at the end must be over, too.
    pub fn last(&self) -> Option<Instant> {
        self.end()?.checked_add(self.grace)
    }

    /// What is left until nothing more may be begun.
    pub fn remaining(&self) -> Duration {
        let left = |end: Instant| end.saturating_duration_since(Instant::now());
        self.end().map_or(Duration::MAX, left)
    }

    /// Whether nothing more may be begun.
    pub fn is_over(&self) -> bool {
        self.end().is_some_and(|end| Instant::now() >= end)
    }

    /// Whether nothing may go on.
    pub fn is_past(&self) -> bool {
        self.last().is_some_and(|last| Instant::now() >= last)
    }

    /// What is left until nothing may go on; none: for ever.
    pub fn left(&self) -> Option<Duration> {
        self.last().map(|last| last.saturating_duration_since(Instant::now()))
    }
}
