//! Numbers in little room. Integers come in; bytes, and base64 for a page, go out. Knows no
//! history.

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

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
        let mut text = String::with_capacity(self.0.len().div_ceil(3) * 4);
        for chunk in self.0.chunks(3) {
            let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
            let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
            for at in 0..4 {
                let digit = DIGITS[(bits >> (18 - 6 * at) & 63) as usize];
                text.push(if at <= chunk.len() { digit as char } else { '=' });
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_numbers_take_a_byte_and_text_is_base64() {
        let mut packed = Packed::default();
        [1, 127].into_iter().for_each(|value| packed.push(value));
        packed.push_signed(-1);
        assert_eq!(packed.0, [1, 127, 1]);
        packed.push(300);
        assert_eq!(packed.0[3..], [0xac, 0x02]);
        packed.push_signed(i64::MIN);
        assert_eq!(packed.0.len(), 15);
        assert_eq!(Packed(b"light wo".to_vec()).base64(), "bGlnaHQgd28=");
        assert_eq!(Packed(b"light w".to_vec()).base64(), "bGlnaHQgdw==");
        assert_eq!(Packed(Vec::new()).base64(), "");
    }
}
