//! Numbers in little room. Integers come in; bytes, and base64 for a page, go out. Knows no
//! history.

use base64::prelude::{BASE64_STANDARD, Engine};

/// Integers one after the other, small ones in few bytes: seven bits in each, the lowest first, and
/// a bit that says whether more follow (LEB128).
#[derive(Default)]
pub struct Packed(Vec<u8>);

impl Packed {
    pub fn push(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    /// One that may be negative: twice it, or twice what is beyond it, less one.
    pub fn push_signed(&mut self, value: i64) {
        self.push((value << 1 ^ value >> 63) as u64);
    }

    pub fn base64(&self) -> String {
        BASE64_STANDARD.encode(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_numbers_take_a_byte() {
        let mut packed = Packed::default();
        [1, 127].into_iter().for_each(|value| packed.push(value));
        packed.push_signed(-1);
        assert_eq!(packed.0, [1, 127, 1]);
        packed.push(300);
        assert_eq!(packed.0[3..], [0xac, 0x02]);
        packed.push_signed(i64::MIN);
        assert_eq!(packed.0.len(), 15);
        assert_eq!(Packed(b"light w".to_vec()).base64(), "bGlnaHQgdw==");
    }
}
