//! Sums that carry their rounding along, in plain loops: nothing here is shared with the solvers.

/// A sum with its rounding carried along (Knuth 1969, TwoSum; Ogita, Rump & Oishi 2005, Sum2).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sum {
    sum: f64,
    lost: f64,
}

impl Sum {
    pub fn add(&mut self, x: f64) {
        let (next, lost) = two_sum(self.sum, x);
        self.sum = next;
        self.lost += lost;
    }

    pub fn value(self) -> f64 {
        self.sum + self.lost
    }

    /// The sum of some numbers.
    pub fn of(numbers: impl IntoIterator<Item = f64>) -> f64 {
        let mut sum = Sum::default();
        numbers.into_iter().for_each(|x| sum.add(x));
        sum.value()
    }
}

/// Many sums beside each other: one loop without branches adds to all of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sums {
    sums: Vec<f64>,
    lost: Vec<f64>,
}

impl Sums {
    /// Bytes of one sum.
    pub const BYTES: u64 = 16;

    pub fn zeros(length: usize) -> Sums {
        Sums { sums: vec![0.0; length], lost: vec![0.0; length] }
    }

    pub fn add(&mut self, at: usize, x: f64) {
        let (next, lost) = two_sum(self.sums[at], x);
        self.sums[at] = next;
        self.lost[at] += lost;
    }

    /// Adds `factor · x` to all.
    pub fn add_scaled(&mut self, factor: f64, x: &[f64]) {
        for ((sum, lost), x) in self.sums.iter_mut().zip(&mut self.lost).zip(x) {
            let (next, error) = two_sum(*sum, factor * x);
            *sum = next;
            *lost += error;
        }
    }

    pub fn value(&self, at: usize) -> f64 {
        self.sums[at] + self.lost[at]
    }

    pub fn values(&self) -> Vec<f64> {
        self.sums.iter().zip(&self.lost).map(|(s, l)| s + l).collect()
    }
}

/// `a + b` and what rounding took from it.
pub(crate) fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let other = sum - a;
    (sum, (a - (sum - other)) + (b - other))
}

/// An inner product, of which only the rounding of the products is lost.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    const LANES: usize = 4;
    let (mut sums, mut lost) = ([0.0; LANES], [0.0; LANES]);
    let (heads, tails) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest = (heads.remainder(), tails.remainder());
    for (a, b) in heads.zip(tails) {
        for lane in 0..LANES {
            let (next, error) = two_sum(sums[lane], a[lane] * b[lane]);
            sums[lane] = next;
            lost[lane] += error;
        }
    }
    let more = rest.0.iter().zip(rest.1).map(|(a, b)| a * b);
    Sum::of(sums.into_iter().chain(more)) + lost.iter().sum::<f64>()
}

/// The length of a vector, also where squares of its entries are no numbers.
pub(crate) fn norm(a: &[f64]) -> f64 {
    let largest = a.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    if largest == 0.0 || !largest.is_finite() {
        return largest;
    }
    largest * Sum::of(a.iter().map(|v| (v / largest) * (v / largest))).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cancels_is_not_lost() {
        assert_eq!(Sum::of([1e16, 1.0, -1e16]), 1.0);
        let mut sums = Sums::zeros(2);
        for x in [[1e16, 3.0], [1.0, 4.0], [-1e16, 5.0]] {
            sums.add_scaled(1.0, &x);
        }
        assert_eq!(sums.values(), [1.0, 12.0]);
        let (a, b) = ([1e8, 1.0, 1e8, 2.0, 3.0], [1e8, 1.0, -1e8, 1.0, 1.0]);
        assert_eq!(dot(&a, &b), 6.0);
        assert!((norm(&[3e200, 4e200]) / 5e200 - 1.0).abs() < 1e-15);
    }
}
