//! Packs integers into bytes (LEB128), and these into base64 for a page.

use base64::prelude::{BASE64_STANDARD, Engine};

/// Integers one after the other: seven bits in each byte, the lowest first, and a bit that says
/// whether more follow.
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

    /// Pushes a signed integer in zigzag encoding: 0, -1, 1, -2, ...
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
