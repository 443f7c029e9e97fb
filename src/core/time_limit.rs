//! How long work may take, as one value that all its parts look at.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Work that has begun when the time is over may take so much longer. With the writing that
/// follows, it ends within the two seconds that users are promised.
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

    /// As this one, but work that has begun may take so much longer.
    pub fn with_more_grace(self, more: Duration) -> TimeLimit {
        TimeLimit { grace: self.grace + more, ..self }
    }

    pub fn most(&self) -> Option<Duration> {
        self.most
    }

    /// The work begins now, unless it has.
    pub fn begin(&self) {
        self.begun.get_or_init(Instant::now);
    }

    /// When it is over, and nothing more may be begun; none before it has begun.
    pub fn end(&self) -> Option<Instant> {
        self.begun.get()?.checked_add(self.most?)
    }

    /// When work that has begun must be over, too.
    pub fn end_of_grace(&self) -> Option<Instant> {
        self.end()?.checked_add(self.grace)
    }

    /// The time until [`TimeLimit::end`].
    pub fn remaining(&self) -> Duration {
        let left = |end: Instant| end.saturating_duration_since(Instant::now());
        self.end().map_or(Duration::MAX, left)
    }

    /// Whether nothing more may be begun.
    pub fn is_over(&self) -> bool {
        self.end().is_some_and(|end| Instant::now() >= end)
    }

    /// Whether nothing may go on.
    pub fn is_grace_over(&self) -> bool {
        self.end_of_grace().is_some_and(|end| Instant::now() >= end)
    }

    /// The time until [`TimeLimit::end_of_grace`]; none: for ever.
    pub fn remaining_with_grace(&self) -> Option<Duration> {
        self.end_of_grace().map(|end| end.saturating_duration_since(Instant::now()))
    }
}
