//! Lists the models that promise less than a model does.

use super::spec::{BULK, EMPTY, SIZE, empty_choices};
use super::{Bulk, Consistency, Empty, Kind, Size, Spec};

impl Spec {
    /// Models each of which allows every history that this one allows. Those of its own kind come
    /// first, and one that promises more comes before one that promises less.
    pub fn weaker(&self) -> Vec<Spec> {
        let same_kind = self.with_less();
        let others = self.kinds_with_less().into_iter().flat_map(|spec| {
            let less = spec.with_less();
            std::iter::once(spec).chain(less)
        });
        same_kind.into_iter().chain(others).collect()
    }

    /// Whether it is of the same kind and promises all that the other one does.
    pub fn includes(&self, other: &Spec) -> bool {
        let is_same = (self.kind, self.k) == (other.kind, other.k);
        let is_same = is_same && self.size >= other.size && self.orders_as(other);
        is_same && self.empty >= other.empty && strength(self.bulk) >= strength(other.bulk)
    }

    /// Whether it promises of the order all that the other one does.
    fn orders_as(&self, other: &Spec) -> bool {
        self.is_linearizable() || self.consistency == other.consistency
    }

    /// The same model, of which other orders may explain a history.
    pub fn weaker_orders(&self) -> Vec<Spec> {
        let with = |consistency| Spec { consistency, ..*self };
        use Consistency::{Quiescent, Sequential, Unordered};
        let mut all = vec![Sequential, Quiescent, Unordered];
        all.retain(|other| self.is_linearizable() && self.kind.has_consistency(*other));
        // The calls would have to be made in orders that no thread makes them in.
        all.retain(|other| *other != Quiescent || !self.kind.is_run());
        all.into_iter().map(with).collect()
    }

    /// The models of the same kind that it includes.
    fn with_less(&self) -> Vec<Spec> {
        let Spec { kind, .. } = *self;
        let choices = empty_choices(kind);
        let is_choice = |(name, empty): &&(&str, Empty)| {
            if kind.is_container() { choices.contains(name) } else { *empty == self.empty }
        };
        let is_mode = |(_, bulk): &&(&str, Bulk)| kind.has_bulk() || *bulk == self.bulk;
        let is_size = |(_, size): &&(&str, Size)| kind.is_container() || *size == self.size;
        let mut less: Vec<Spec> = Vec::new();
        for (_, empty) in EMPTY.iter().rev().filter(is_choice) {
            for (_, bulk) in BULK.iter().rev().filter(is_mode) {
                let sizes = SIZE.iter().rev().filter(is_size);
                let with = |size| Spec { empty: *empty, bulk: *bulk, size, ..*self };
                less.extend(sizes.map(|(_, size)| with(*size)));
            }
        }
        less.retain(|spec| spec != self && self.includes(spec));
        less
    }

    /// The strongest models of other kinds that promise less.
    fn kinds_with_less(&self) -> Vec<Spec> {
        let pool = |empty| Spec { empty, size: self.size, ..Spec::new(Kind::Pool) };
        match self.kind {
            Kind::Fifo => {
                vec![Spec { kind: Kind::FifoPerProducer, ..*self }, pool(self.empty)]
            }
            // What is promised of each producer's queue says little of all of them.
            Kind::FifoPerProducer if self.empty < Empty::Strong => vec![pool(Empty::None)],
            Kind::FifoPerProducer | Kind::FifoRelaxed | Kind::Lifo | Kind::Deque => {
                vec![pool(self.empty)]
            }
            _ => Vec::new(),
        }
    }
}

fn strength(bulk: Bulk) -> usize {
    BULK.iter().position(|(_, other)| *other == bulk).expect("BULK lists every mode")
}
