//! The checksum by which a thread's records show whether the target has overwritten them.

/// A checksum of the eight-byte words at the beginning of a thread's records, which are complete
/// and must never change. It is lengthened with the records.
#[derive(Clone, Copy, Default)]
pub struct Seal {
    words: u64,
    sum: u64,
}

impl Seal {
    /// A multiplier of good bit mixing: 2^64 divided by the golden ratio (Knuth, The Art of
    /// Computer Programming, volume 3, section 6.4).
    const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

    /// Goes on to the last whole word of `bytes`, whose beginning it has.
    #[inline]
    pub fn lengthen(&mut self, bytes: &[u8]) {
        let (words, _) = bytes[8 * self.words as usize..].as_chunks::<8>();
        for word in words {
            let mixed = (self.sum ^ u64::from_le_bytes(*word)).wrapping_mul(Self::MULTIPLIER);
            self.sum = mixed.rotate_left(32);
        }
        self.words += words.len() as u64;
    }

    /// As one word of the record area: the number of words, and half of the checksum.
    #[inline]
    pub fn packed(self) -> u64 {
        self.words << 32 | self.sum & u64::from(u32::MAX)
    }

    /// Whether bytes that begin with those of this seal are unchanged.
    pub fn fits(packed: u64, bytes: &[u8]) -> bool {
        let sealed = bytes.get(..8 * (packed >> 32) as usize);
        let of = |bytes: &[u8]| {
            let mut seal = Seal::default();
            seal.lengthen(bytes);
            seal.packed()
        };
        sealed.is_some_and(|bytes| of(bytes) == packed)
    }
}
