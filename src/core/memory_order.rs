//! Memory orders of atomic accesses, and what it means to take one weaker than it is written.
//!
//! Orders are named as in <stdatomic.h>, and have its numbers. A compare-exchange has two: that of
//! its success, and that of its failure, which only loads.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryOrder {
    Relaxed,
    Consume,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

/// What has an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ordered {
    Load,
    Store,
    /// A read-modify-write other than a compare-exchange.
    Update,
    /// A compare-exchange that succeeds.
    Compare,
    /// One that fails.
    Failure,
    Fence,
}

impl MemoryOrder {
    pub const ALL: [MemoryOrder; 6] = [
        MemoryOrder::Relaxed,
        MemoryOrder::Consume,
        MemoryOrder::Acquire,
        MemoryOrder::Release,
        MemoryOrder::AcqRel,
        MemoryOrder::SeqCst,
    ];

    /// By its number in <stdatomic.h>, to which compilers may add hints.
    pub fn from_number(number: u32) -> Option<MemoryOrder> {
        MemoryOrder::ALL.get((number & 7) as usize).copied()
    }

    /// The orders that are one step weaker, of such an access. A fence that is relaxed is none.
    pub fn weaker(self, of: Ordered) -> &'static [MemoryOrder] {
        use MemoryOrder::{AcqRel, Acquire, Consume, Relaxed, Release, SeqCst};
        match (self, of) {
            (SeqCst, Ordered::Load | Ordered::Failure) => &[Acquire],
            (SeqCst, Ordered::Store) => &[Release],
            (SeqCst, Ordered::Update | Ordered::Compare | Ordered::Fence) => &[AcqRel],
            (AcqRel, _) => &[Acquire, Release],
            (Acquire | Consume | Release, _) => &[Relaxed],
            (Relaxed, _) => &[],
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            MemoryOrder::Relaxed => "relaxed",
            MemoryOrder::Consume => "consume",
            MemoryOrder::Acquire => "acquire",
            MemoryOrder::Release => "release",
            MemoryOrder::AcqRel => "acq_rel",
            MemoryOrder::SeqCst => "seq_cst",
        }
    }
}

impl Ordered {
    pub const ALL: [Ordered; 6] = [
        Ordered::Load,
        Ordered::Store,
        Ordered::Update,
        Ordered::Compare,
        Ordered::Failure,
        Ordered::Fence,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Ordered::Load => "load",
            Ordered::Store => "store",
            Ordered::Update => "update",
            Ordered::Compare => "compare",
            Ordered::Failure => "failure",
            Ordered::Fence => "fence",
        }
    }
}

impl fmt::Display for MemoryOrder {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for Ordered {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Accesses of the target in one source line, of one kind and with one order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct OrderPlace {
    /// The name of the source, without folders.
    pub file: String,
    pub line: u32,
    pub of: Ordered,
    pub order: MemoryOrder,
}

/// As in `ring.hpp:12:store:release`.
impl fmt::Display for OrderPlace {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let OrderPlace { file, line, of, order } = self;
        write!(f, "{file}:{line}:{of}:{order}")
    }
}

/// These accesses are made with a weaker order than is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Weakening {
    #[serde(flatten)]
    pub place: OrderPlace,
    pub to: MemoryOrder,
}

/// As in `ring.hpp:12:store:release=relaxed`.
impl fmt::Display for Weakening {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}={}", self.place, self.to)
    }
}

impl FromStr for Weakening {
    type Err = String;

    fn from_str(text: &str) -> Result<Weakening, String> {
        parsed(text).ok_or_else(|| {
            let orders = MemoryOrder::ALL.map(MemoryOrder::name).join(", ");
            let kinds = Ordered::ALL.map(Ordered::name).join(", ");
            format!(
                "expected FILE:LINE:KIND:ORDER=WEAKER, as in ring.hpp:12:store:release=relaxed; \
                 kinds: {kinds}; orders: {orders}"
            )
        })
    }
}

fn parsed(text: &str) -> Option<Weakening> {
    let order = |name: &str| MemoryOrder::ALL.into_iter().find(|order| order.name() == name);
    let (place, to) = text.rsplit_once('=')?;
    let mut parts = place.rsplitn(4, ':');
    let from = order(parts.next()?)?;
    let kind = parts.next()?;
    let of = Ordered::ALL.into_iter().find(|of| of.name() == kind)?;
    let (line, file) = (parts.next()?.parse().ok()?, parts.next()?.to_string());
    Some(Weakening { place: OrderPlace { file, line, of, order: from }, to: order(to)? })
}

/// An access in the target's library, by an address of its code in the library's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct OrderedAccess {
    pub address: u64,
    pub of: Ordered,
    pub order: MemoryOrder,
}

/// It is made with this order instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WeakenedAccess {
    pub access: OrderedAccess,
    pub to: MemoryOrder,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weakening_is_read_as_it_is_written() {
        for text in ["ring.hpp:12:store:release=relaxed", "a:b.h:1:compare:acq_rel=acquire"] {
            assert_eq!(text.parse::<Weakening>().expect(text).to_string(), text);
        }
        for text in ["", "ring.hpp:12", "ring.hpp:x:load:acquire=relaxed", "r:1:load:acquire=weak"]
        {
            assert!(text.parse::<Weakening>().is_err(), "{text}");
        }
    }

    /// Whatever an order does, one that is weaker by steps does less, and all ways end at relaxed.
    #[test]
    fn steps_lead_to_relaxed() {
        for of in Ordered::ALL {
            for order in MemoryOrder::ALL {
                let mut left = vec![(order, 0)];
                while let Some((order, steps)) = left.pop() {
                    assert!(steps <= 3, "{of} {order}");
                    let weaker = order.weaker(of);
                    assert_eq!(weaker.is_empty(), order == MemoryOrder::Relaxed, "{of} {order}");
                    left.extend(weaker.iter().map(|weaker| (*weaker, steps + 1)));
                }
            }
        }
    }
}
