//! A history of a user's own operations with its verdict, shown as text and as a page.

use std::fmt::{self, Debug, Display, Formatter};
use std::sync::LazyLock;

use super::checked::{Checked, Named};
use crate::check::{Limits, Verdict, check};
use crate::core::history::{History, Unit};
use crate::core::journal::Journal;
use crate::core::own;
use crate::model::{Consistency, Kind, Model, Spec};

/// A [`Journal`] with its verdict under a user's model.
///
/// ```
/// use interlap::check::Limits;
/// use interlap::core::recorder::{Answered, Recorder};
/// use interlap::model::Model;
/// use interlap::view::judged::Judged;
///
/// #[derive(Clone, Debug)]
/// enum Call {
///     Write(u64),
///     Read,
/// }
///
/// struct Register;
///
/// impl Model<Answered<Call, u64>> for Register {
///     type State = u64;
///
///     fn init(&self) -> u64 {
///         0
///     }
///
///     fn step(&self, held: &u64, operation: &Answered<Call, u64>, next: &mut Vec<u64>) {
///         match (&operation.call, operation.answer) {
///             (Call::Write(value), _) => next.push(*value),
///             (Call::Read, Some(answer)) if answer != *held => {}
///             (Call::Read, _) => next.push(*held),
///         }
///     }
///
///     fn right_answer(&self, held: &u64, _: &Answered<Call, u64>) -> Option<String> {
///         Some(held.to_string()) // shown beside an answer that is wrong
///     }
/// }
///
/// let recorder = Recorder::new();
/// recorder.invoke(1, Call::Write(7)).returned(0);
/// recorder.invoke(2, Call::Read).returned(5);
///
/// let judged = Judged::new(recorder.journal(), Register, &Limits::default());
/// assert!(!judged.is_consistent());
/// println!("{judged}"); // why no order explains it, a picture, and how far it can have gone
/// let page = judged.page("a register"); // HTML that needs no network
/// ```
pub struct Judged {
    verdict: Verdict,
    model: Spec,
    /// Made where it is asked for: of a long journal it is large.
    shown: Shown,
    limits: Limits,
}

/// The journal as a history.
type Shown = LazyLock<History, Box<dyn FnOnce() -> History + Send>>;

impl Judged {
    /// Checks whether the history is linearizable. What shows the verdict ends where `limits` do.
    pub fn new<O, M>(journal: Journal<O>, model: M, limits: &Limits) -> Judged
    where
        O: Clone + Debug + Send + Sync + 'static,
        M: Model<O> + Send + Sync + 'static,
        M::State: Send + Sync + 'static,
    {
        Judged::by(Consistency::Linearizable, journal, model, limits)
    }

    /// Checks it by other orders.
    pub fn by<O, M>(
        consistency: Consistency,
        journal: Journal<O>,
        model: M,
        limits: &Limits,
    ) -> Judged
    where
        O: Clone + Debug + Send + Sync + 'static,
        M: Model<O> + Send + Sync + 'static,
        M::State: Send + Sync + 'static,
    {
        let by_timeboxes =
            (consistency == Consistency::Linearizable).then(|| check(&journal, &model, limits));
        let shown: Shown = LazyLock::new(Box::new(move || own::history(&journal, model)));
        let model = Spec { consistency, ..Spec::new(Kind::Own) };
        let verdict = by_timeboxes.unwrap_or_else(|| check(&*shown, &model, limits));
        Judged { verdict, model, shown, limits: limits.clone() }
    }

    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    /// Whether some order explains the history. Where that was not decided, it is not.
    pub fn is_consistent(&self) -> bool {
        self.verdict == Verdict::Consistent
    }

    /// The verdict in a line; of a violation also why, a picture, and how far it can have gone.
    pub fn text(&self, name: &str) -> String {
        self.checked(name).text()
    }

    /// The page: HTML that needs no network, with the timeline, the partial linearizations and the
    /// search, or an order that explains the history.
    pub fn page(&self, name: &str) -> String {
        self.checked(name).page()
    }

    fn checked<'a>(&'a self, name: &'a str) -> Checked<'a> {
        let history = &*self.shown;
        let strings = &history.own.as_ref().expect("it brings its model along").strings;
        let unit = Unit { factor: 1.0, name: "units of the recorder's clock", is_absolute: true };
        let of = Named { name, history, strings, unit };
        Checked::new(of, self.model, self.verdict.clone(), &self.limits)
    }
}

impl Display for Judged {
    fn fmt(&self, formatter: &mut Formatter) -> fmt::Result {
        formatter.write_str(&self.text("history"))
    }
}
