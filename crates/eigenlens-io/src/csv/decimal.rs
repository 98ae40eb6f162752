//! A whole number times a power of ten, correctly rounded, as in D. Lemire, "Number parsing at a
//! gigabyte per second", Software: Practice and Experience 51 (2021), section 5.

/// `mantissa · 10^power`, correctly rounded; `None` where this method does not decide.
#[inline(always)]
pub(super) fn scale(mantissa: u64, power: i32) -> Option<f64> {
    if mantissa == 0 {
        return Some(0.0);
    }
    let index = usize::try_from(power + MAX_POWER).ok()?;
    let &(high, low) = POWERS.get(index)?;
    let shift = mantissa.leading_zeros();
    let normal = mantissa << shift;
    let product = u128::from(normal) * u128::from(high);
    let (mut upper, mut lower) = ((product >> 64) as u64, product as u64);
    if upper & 0x1ff == 0x1ff {
        // The digits kept are too near to a boundary to ignore the lower half of the power.
        let more = ((u128::from(normal) * u128::from(low)) >> 64) as u64;
        let (sum, carry) = lower.overflowing_add(more);
        lower = sum;
        upper += u64::from(carry);
    }
    let top = (upper >> 63) as u32;
    let kept = top + 9;
    let mut bits = upper >> kept;
    if lower.wrapping_add(1) <= 2 {
        if lower == u64::MAX && !(-27..=55).contains(&power) {
            return None;
        }
        // A tie is only possible where the power of five divides a 64-bit number.
        let may_be_tie = lower <= 1 && (-4..=23).contains(&power);
        if may_be_tie && bits & 3 == 1 && bits << kept == upper {
            bits &= !1;
        }
    }
    bits += bits & 1;
    bits >>= 1;
    // log2(10) in 16 fractional bits; all results here are far from the ends of the range.
    let exponent = ((power * 217_706) >> 16) + 63 + top as i32 - shift as i32 + 1023;
    // The leading one of the mantissa adds the last unit to the exponent, and so does its carry.
    Some(f64::from_bits((((exponent - 1) as u64) << 52).wrapping_add(bits)))
}

/// Powers of ten that [`scale`] knows: 10^-54 to 10^54. All others are rare.
const MAX_POWER: i32 = 54;

/// 5^q for each q, as 128 bits that begin with a one: rounded down for positive q (exact here), for
/// negative q rounded as the proof in the paper asks.
static POWERS: [(u64, u64); 2 * MAX_POWER as usize + 1] = {
    let mut powers = [(0, 0); 2 * MAX_POWER as usize + 1];
    let mut five = 1u128;
    let mut q = 0;
    while q <= MAX_POWER as usize {
        powers[MAX_POWER as usize + q] = halves(five << five.leading_zeros());
        if q > 0 {
            // 2^(z+127) / 5^q by long division, where z is the number of bits of 5^q.
            let mut quotient = 0u128;
            let mut rest = 1u128 << (127 - five.leading_zeros());
            let mut bit = 0;
            while bit < 128 {
                rest <<= 1;
                quotient <<= 1;
                if rest >= five {
                    rest -= five;
                    quotient |= 1;
                }
                bit += 1;
            }
            if q <= 27 {
                quotient += 1;
            }
            powers[MAX_POWER as usize - q] = halves(quotient);
        }
        if q < MAX_POWER as usize {
            five *= 5;
        }
        q += 1;
    }
    powers
};

const fn halves(value: u128) -> (u64, u64) {
    ((value >> 64) as u64, value as u64)
}
