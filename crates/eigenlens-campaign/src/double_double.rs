//! Numbers of twice the precision of f64: the unevaluated sum of two of them (Dekker 1971; Hida, Li & Bailey
//! 2001). About 32 digits, which is what it takes to judge bounds of 1e-16.

use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// `hi + lo` with |lo| at most half a unit in the last place of hi.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct DoubleDouble {
    hi: f64,
    lo: f64,
}

/// `a + b` exactly, as the rounded sum and what rounding took (Knuth).
fn two_sum(a: f64, b: f64) -> DoubleDouble {
    let hi = a + b;
    let rest = hi - a;
    DoubleDouble { hi, lo: (a - (hi - rest)) + (b - rest) }
}

/// The same where |a| ≥ |b| or a = 0 (Dekker).
fn quick_two_sum(a: f64, b: f64) -> DoubleDouble {
    let hi = a + b;
    DoubleDouble { hi, lo: b - (hi - a) }
}

/// `a b` exactly: a fused multiply-add rounds once, so it gives what rounding took.
fn two_product(a: f64, b: f64) -> DoubleDouble {
    let hi = a * b;
    DoubleDouble { hi, lo: a.mul_add(b, -hi) }
}

impl DoubleDouble {
    pub const ZERO: DoubleDouble = DoubleDouble { hi: 0.0, lo: 0.0 };
    pub const ONE: DoubleDouble = DoubleDouble { hi: 1.0, lo: 0.0 };

    /// Rounded to f64.
    pub fn to_f64(self) -> f64 {
        self.hi
    }

    pub fn abs(self) -> DoubleDouble {
        if self.hi < 0.0 { -self } else { self }
    }

    pub fn max(self, other: DoubleDouble) -> DoubleDouble {
        if self < other { other } else { self }
    }

    /// Times a power of two, exactly.
    pub fn scaled(self, power_of_two: f64) -> DoubleDouble {
        DoubleDouble { hi: self.hi * power_of_two, lo: self.lo * power_of_two }
    }

    /// The root of a number that is not below 0 (what rounding left below it counts as 0): one step of Newton's
    /// iteration from the root in f64.
    pub fn sqrt(self) -> DoubleDouble {
        if self.hi <= 0.0 {
            return DoubleDouble::ZERO;
        }
        let root = self.hi.sqrt();
        let rest = self - two_product(root, root);
        quick_two_sum(root, rest.hi / (2.0 * root))
    }

    /// e to this power: `x = m ln 2 + 512 y`, the series of `e^y − 1`, and nine squarings of it as
    /// `(1 + s)² − 1 = 2 s + s²`, so that no digits of a small s are lost to the 1.
    pub fn exp(self) -> DoubleDouble {
        if self.hi < -740.0 {
            return DoubleDouble::ZERO;
        }
        let m = (self.hi / std::f64::consts::LN_2).round();
        let rest = self - LN_2 * DoubleDouble::from(m);
        let power = DoubleDouble::ONE + exp_minus_one_small(rest);
        // In two steps: 2^m itself may be no normal number.
        power.scaled(2f64.powi((m / 2.0) as i32)).scaled(2f64.powi(m as i32 - (m / 2.0) as i32))
    }

    /// The hyperbolic tangent: by `(e^{2x} − 1) / (e^{2x} + 1)`, the numerator without cancellation.
    pub fn tanh(self) -> DoubleDouble {
        if self.hi < 0.0 {
            return -(-self).tanh();
        }
        let two = DoubleDouble::from(2.0);
        let minus_one = if self.hi < 0.17 {
            exp_minus_one_small(self + self)
        } else if self.hi < 40.0 {
            (self + self).exp() - DoubleDouble::ONE
        } else {
            return DoubleDouble::ONE;
        };
        minus_one / (minus_one + two)
    }

    /// To a whole power.
    pub fn powi(self, power: u32) -> DoubleDouble {
        (0..power).fold(DoubleDouble::ONE, |product, _| product * self)
    }
}

/// ln 2 to 32 digits.
const LN_2: DoubleDouble =
    DoubleDouble { hi: std::f64::consts::LN_2, lo: 2.319_046_813_846_299_6e-17 };

/// `e^x − 1` for |x| below 0.35.
fn exp_minus_one_small(x: DoubleDouble) -> DoubleDouble {
    let y = x.scaled(1.0 / 512.0);
    // y < 7e-4: y^11 / 11! is below 1e-41.
    let mut series = DoubleDouble::ZERO;
    for j in (1..=10u32).rev() {
        series = (series + DoubleDouble::ONE) * y / DoubleDouble::from(f64::from(j));
    }
    for _ in 0..9 {
        series = series.scaled(2.0) + series * series;
    }
    series
}

impl From<f64> for DoubleDouble {
    fn from(hi: f64) -> DoubleDouble {
        DoubleDouble { hi, lo: 0.0 }
    }
}

impl Neg for DoubleDouble {
    type Output = DoubleDouble;
    fn neg(self) -> DoubleDouble {
        DoubleDouble { hi: -self.hi, lo: -self.lo }
    }
}

/// The accurate sum: its error is relative to the result, also where most of it cancels.
impl Add for DoubleDouble {
    type Output = DoubleDouble;
    fn add(self, other: DoubleDouble) -> DoubleDouble {
        let (sum, rest) = (two_sum(self.hi, other.hi), two_sum(self.lo, other.lo));
        let sum = quick_two_sum(sum.hi, sum.lo + rest.hi);
        quick_two_sum(sum.hi, sum.lo + rest.lo)
    }
}

impl Sub for DoubleDouble {
    type Output = DoubleDouble;
    fn sub(self, other: DoubleDouble) -> DoubleDouble {
        self + -other
    }
}

impl Mul for DoubleDouble {
    type Output = DoubleDouble;
    fn mul(self, other: DoubleDouble) -> DoubleDouble {
        let product = two_product(self.hi, other.hi);
        quick_two_sum(product.hi, product.lo + (self.hi * other.lo + self.lo * other.hi))
    }
}

impl Div for DoubleDouble {
    type Output = DoubleDouble;
    /// Long division with digits of f64.
    fn div(self, other: DoubleDouble) -> DoubleDouble {
        let first = self.hi / other.hi;
        let rest = self - other * DoubleDouble::from(first);
        let second = rest.hi / other.hi;
        let rest = rest - other * DoubleDouble::from(second);
        quick_two_sum(first, second) + DoubleDouble::from(rest.hi / other.hi)
    }
}

impl AddAssign for DoubleDouble {
    fn add_assign(&mut self, other: DoubleDouble) {
        *self = *self + other;
    }
}

impl SubAssign for DoubleDouble {
    fn sub_assign(&mut self, other: DoubleDouble) {
        *self = *self - other;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The distance from 1 to the next number, about.
    const EPSILON: f64 = f64::EPSILON * f64::EPSILON;

    fn number(v: f64) -> DoubleDouble {
        DoubleDouble::from(v)
    }

    /// Whether two numbers agree to so many units of the last digit.
    fn close(a: DoubleDouble, b: DoubleDouble, units: f64) -> bool {
        (a - b).abs().to_f64() <= units * EPSILON * b.abs().to_f64()
    }

    #[test]
    fn quotients_and_roots_undo_products() {
        for v in [2.0, 3.0, 0.1, 1e-9, 12345.678, 1e100] {
            let third = number(v) / number(3.0);
            assert!(close(third + third + third, number(v), 4.0), "{v}");
            let root = number(v).sqrt();
            assert!(close(root * root, number(v), 8.0), "{v}");
        }
    }

    #[test]
    fn sums_keep_what_f64_loses() {
        // (1 + 2⁻⁶⁰) − 1, and a product whose low half is all that is left.
        let tiny = 2f64.powi(-60);
        assert_eq!((number(1.0) + number(tiny) - number(1.0)).to_f64(), tiny);
        let a = 1.0 + f64::EPSILON;
        let square = number(a) * number(a) - number(1.0 + 2.0 * f64::EPSILON);
        assert_eq!(square.to_f64(), f64::EPSILON * f64::EPSILON);
    }

    /// Published digits: e = 2.71828182845904523536028747135266249775724709…, and
    /// tanh 1 = 0.76159415595576488811945828260479359041276859…
    #[test]
    fn exponentials_have_thirty_digits() {
        let e = DoubleDouble { hi: std::f64::consts::E, lo: 1.445_646_891_729_250_2e-16 };
        assert!(close(number(1.0).exp(), e, 64.0));
        for v in [1e-12, 0.3, 5.0, 200.0, -0.7, -30.0, -600.0] {
            let product = number(v).exp() * number(-v).exp();
            assert!(close(product, number(1.0), 256.0 + 2.0 * v.abs()), "{v}");
            // tanh x = tanh(x/2)(2 / (1 + tanh²(x/2))): small and large arguments by different formulas.
            let half = number(v / 2.0).tanh();
            let doubled = (half + half) / (number(1.0) + half * half);
            assert!(close(number(v).tanh(), doubled, 256.0), "tanh {v}");
        }
        let e2 = number(2.0).exp();
        let tanh = (e2 - number(1.0)) / (e2 + number(1.0));
        assert!(close(number(1.0).tanh(), tanh, 64.0));
        assert_eq!(number(1.0).tanh().to_f64(), 0.761_594_155_955_764_9);
    }
}
