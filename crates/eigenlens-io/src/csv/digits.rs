//! Decimal digits in bulk: where they end, and the numbers they spell.
//!
//! SSE2 belongs to every x86-64 processor, so that nothing has to be chosen at run time; elsewhere
//! the same is done eight bytes at a time.

/// Powers of ten.
pub(super) const TENS: [u64; 17] = {
    let mut tens = [1; 17];
    let mut n = 1;
    while n < tens.len() {
        tens[n] = 10 * tens[n - 1];
        n += 1;
    }
    tens
};

/// A bit for each byte that is not a digit; the first byte has the lowest.
#[inline(always)]
pub(super) fn non_digits(bytes: &[u8; 32]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has SSE2.
    return unsafe { sse2::non_digits(bytes) };
    #[cfg(not(target_arch = "x86_64"))]
    words::non_digits(bytes)
}

/// The number that sixteen digits spell, all after the first `n` taken for zeros.
#[inline(always)]
pub(super) fn sixteen_digits(bytes: &[u8; 16], n: usize) -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has SSE2.
    return unsafe { sse2::sixteen_digits(bytes, n) };
    #[cfg(not(target_arch = "x86_64"))]
    words::sixteen_digits(bytes, n)
}

/// The number that the first `n` < 16 bytes spell, which are digits.
#[inline(always)]
pub(super) fn few_digits(bytes: &[u8; 16], n: usize) -> u64 {
    let [first, second] = words::of(bytes);
    if n < 8 {
        words::leading(first, n)
    } else {
        words::eight(first) * TENS[n & 7] + words::leading(second, n & 7)
    }
}

#[cfg(target_arch = "x86_64")]
mod sse2 {
    use std::arch::x86_64::*;

    #[target_feature(enable = "sse2")]
    #[inline]
    pub(super) fn non_digits(bytes: &[u8; 32]) -> u32 {
        let half = |at: usize| {
            // Signed comparison: the digits come to lie at the lower end of the range.
            let moved =
                _mm_add_epi8(load(bytes, at), _mm_set1_epi8(128u8.wrapping_sub(b'0') as i8));
            _mm_movemask_epi8(_mm_cmpgt_epi8(moved, _mm_set1_epi8(-128 + 9))) as u32
        };
        half(0) | half(16) << 16
    }

    #[target_feature(enable = "sse2")]
    #[inline]
    pub(super) fn sixteen_digits(bytes: &[u8; 16], n: usize) -> u64 {
        let kept = load(&KEPT, 16 - n.min(16));
        let digits = _mm_and_si128(_mm_xor_si128(load(bytes, 0), _mm_set1_epi8(0x30)), kept);
        let zero = _mm_setzero_si128();
        // Neighbours are joined: digits to pairs, pairs to fours, fours to eights.
        let join = |x, upper: i32| _mm_madd_epi16(x, _mm_set1_epi32(upper | 1 << 16));
        let pairs = _mm_packs_epi32(
            join(_mm_unpacklo_epi8(digits, zero), 10),
            join(_mm_unpackhi_epi8(digits, zero), 10),
        );
        let fours = join(pairs, 100);
        let eights = _mm_cvtsi128_si64(join(_mm_packs_epi32(fours, fours), 10_000)) as u64;
        (eights & 0xffff_ffff) * 100_000_000 + (eights >> 32)
    }

    /// Sixteen bytes of these that begin at `at` are kept where they come first.
    static KEPT: [u8; 32] = {
        let mut kept = [0; 32];
        let mut n = 0;
        while n < 16 {
            kept[n] = 0xff;
            n += 1;
        }
        kept
    };

    #[target_feature(enable = "sse2")]
    #[inline]
    fn load<const N: usize>(bytes: &[u8; N], at: usize) -> __m128i {
        let mut sixteen = [0; 16];
        sixteen.copy_from_slice(&bytes[at..at + 16]);
        let both = u128::from_le_bytes(sixteen);
        _mm_set_epi64x((both >> 64) as i64, both as i64)
    }
}

/// Eight digits at a time; the first byte is the lowest, digits are 0–9.
mod words {
    #[inline(always)]
    pub(super) fn of(bytes: &[u8; 16]) -> [u64; 2] {
        let both = u128::from_le_bytes(*bytes) ^ 0x3030_3030_3030_3030_3030_3030_3030_3030;
        [both as u64, (both >> 64) as u64]
    }

    #[cfg(any(test, not(target_arch = "x86_64")))]
    pub(super) fn non_digits(bytes: &[u8; 32]) -> u32 {
        let mut all = 0;
        for (place, eight) in bytes.as_chunks::<8>().0.iter().enumerate() {
            let x = u64::from_le_bytes(*eight) ^ 0x3030_3030_3030_3030;
            let low = (x & 0x7f7f_7f7f_7f7f_7f7f) + 0x7676_7676_7676_7676;
            let others = ((x | low) & 0x8080_8080_8080_8080) >> 7;
            // Every bit moves to a place of its own in the highest byte.
            let bits = others.wrapping_mul(0x0102_0408_1020_4080) >> 56;
            all |= (bits as u32) << (8 * place);
        }
        all
    }

    #[cfg(any(test, not(target_arch = "x86_64")))]
    pub(super) fn sixteen_digits(bytes: &[u8; 16], n: usize) -> u64 {
        let [first, second] = of(bytes);
        let kept = |word: u64, n: usize| if n < 8 { word & ((1 << (8 * n)) - 1) } else { word };
        eight(kept(first, n)) * 100_000_000 + eight(kept(second, n.saturating_sub(8)))
    }

    /// The number that eight digits spell.
    #[inline(always)]
    pub(super) fn eight(digits: u64) -> u64 {
        const MASK: u64 = 0x0000_00ff_0000_00ff;
        let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
        let upper = (pairs & MASK).wrapping_mul(0x000f_4240_0000_0064);
        let lower = ((pairs >> 16) & MASK).wrapping_mul(0x0000_2710_0000_0001);
        upper.wrapping_add(lower) >> 32
    }

    /// The number that the first `n` < 8 digits spell.
    #[inline(always)]
    pub(super) fn leading(digits: u64, n: usize) -> u64 {
        // Two steps, because a shift by 64 does not exist.
        eight((digits << (56 - 8 * n)) << 8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_at_every_place_is_a_digit_or_not() {
        for byte in 0..=255u8 {
            for place in 0..32 {
                let mut bytes = [b'7'; 32];
                bytes[place] = byte;
                let expected = if byte.is_ascii_digit() { 0 } else { 1 << place };
                assert_eq!(non_digits(&bytes), expected, "{byte} at {place}");
                assert_eq!(words::non_digits(&bytes), expected, "{byte} at {place}");
            }
        }
        let mixed = b"-1.5,-22.75\n/:;0123456789e2,\xff\x80\xb0 ";
        assert_eq!(non_digits(mixed), words::non_digits(mixed));
    }

    #[test]
    fn digits_spell_their_number_whatever_follows() {
        let text = b"9081726354657483";
        for n in 0..=16 {
            let mut bytes = [b'x'; 16];
            bytes[..n].copy_from_slice(&text[..n]);
            let spelled: u64 = std::str::from_utf8(&text[..n]).unwrap().parse().unwrap_or(0);
            let scaled = spelled * TENS[16 - n];
            assert_eq!(sixteen_digits(&bytes, n), scaled);
            assert_eq!(words::sixteen_digits(&bytes, n), scaled);
            if n < 16 {
                assert_eq!(few_digits(&bytes, n), spelled);
            }
        }
    }
}
