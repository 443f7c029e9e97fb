//! A set of operations: those that occur in a thread, for example.

use super::method::Method;
use super::operation::Op;

/// A set of operations. Of methods it holds one, as all of them are of one family.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ops {
    of_families: u128,
    method: Option<Method>,
}

impl Ops {
    /// The codes of one family differ in the lowest three bits; bits 4 to 7 name the family.
    #[inline]
    fn place(op: Op) -> u32 {
        let code = u32::from(op.code());
        (code >> 4) << 3 | code & 7
    }

    #[inline]
    pub fn insert(&mut self, op: Op) {
        match op {
            Op::Method(method) => self.method = Some(method),
            op => self.of_families |= 1 << Ops::place(op),
        }
    }

    #[inline]
    pub fn contains(self, op: Op) -> bool {
        match op {
            Op::Method(method) => self.method == Some(method),
            op => self.of_families >> Ops::place(op) & 1 == 1,
        }
    }

    pub fn iter(self) -> impl Iterator<Item = Op> {
        let mut rest = self.of_families;
        let of_families = std::iter::from_fn(move || {
            let place = (rest != 0).then(|| rest.trailing_zeros())?;
            rest &= rest - 1;
            Op::from_code((place >> 3) << 4 | place & 7)
        });
        of_families.chain(self.method.map(Op::Method))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_of_operations_holds_what_was_inserted() {
        for &op in Op::ALL {
            let mut ops = Ops::default();
            ops.insert(op);
            assert!(ops.iter().eq([op]));
            assert!(Op::ALL.iter().all(|other| ops.contains(*other) == (*other == op)));
            assert!(!ops.contains(Op::Described), "{op:?}");
        }
    }
}
