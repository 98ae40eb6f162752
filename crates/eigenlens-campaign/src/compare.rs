//! What a certificate claims, beside what is true.

use crate::double_double::DoubleDouble;
use crate::matrix::{Matrix, add_scaled, dot, norm, symmetric_eigen};
use crate::truth::Truth;
use eigenlens::Certificate;
use eigenlens::solver::NoneMissed;

/// The kinds of claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// |value − truth| / λ₁ against `value_errors`.
    Value,
    /// sin of the angle to the true vector against `angles`.
    Angle,
    /// sin of the largest angle between two spans against `group_angles`.
    Group,
    /// ‖S u − λ u‖ / λ₁ against `residuals`.
    Residual,
    /// Largest entry of |UᵀU − I|.
    Orthogonality,
    /// That no larger value was overlooked.
    NoneMissed,
    /// A value, angle or group of a certificate that holds on the condition that nothing was overlooked, where that is
    /// so. Told of, but no failure.
    Conditional,
}

impl Claim {
    /// All of them, in their order.
    pub const ALL: [Claim; 7] = [
        Claim::Value,
        Claim::Angle,
        Claim::Group,
        Claim::Residual,
        Claim::Orthogonality,
        Claim::NoneMissed,
        Claim::Conditional,
    ];

    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            Claim::Value => "value",
            Claim::Angle => "angle",
            Claim::Group => "group",
            Claim::Residual => "residual",
            Claim::Orthogonality => "orthogonality",
            Claim::NoneMissed => "none missed",
            Claim::Conditional => "conditional",
        }
    }
}

/// One claim of one certificate.
#[derive(Clone, Copy, Debug)]
pub struct Check {
    /// Its kind.
    pub claim: Claim,
    /// The component, or the first one of a group.
    pub component: usize,
    /// What the certificate says.
    pub bound: f64,
    /// What is true.
    pub found: f64,
    /// What the comparison itself may be off by.
    allowance: f64,
}

impl Check {
    /// Whether the claim is false.
    pub fn is_false(&self) -> bool {
        let most = self.bound * (1.0 + 1e-6) + self.allowance;
        self.bound.is_nan() || self.found.is_nan() || self.found > most
    }

    /// Whether it is false and was to be true without any condition.
    pub fn is_failure(&self) -> bool {
        self.is_false() && self.claim != Claim::Conditional
    }

    /// How many times more than the bound is true.
    pub fn factor(&self) -> f64 {
        self.found / self.bound
    }

    /// How many times less: nothing is known better than rounding allows.
    pub fn looseness(&self) -> f64 {
        self.bound / self.found.max(f64::EPSILON)
    }
}

/// What a model says.
pub struct Claimed<'a> {
    /// As they are stored.
    pub values: &'a [f64],
    /// The components as rows, in f64; `None` where the model does not keep them (of a value of 0).
    pub vectors: Vec<Option<Vec<f64>>>,
    /// Whether the model keeps the vectors themselves, not multiples of them.
    pub unit_vectors: bool,
    pub certificate: &'a Certificate,
}

/// What measuring in f64 leaves: residuals and orthogonality are measurements, sums over the d entries of a vector.
fn measured(d: usize) -> f64 {
    4.0 * f64::EPSILON * (d as f64).sqrt()
}

/// Every claim of the certificate beside the truth.
pub fn compare(claimed: &Claimed, truth: &Truth) -> Vec<Check> {
    let stored = claimed.values.first().copied().unwrap_or(0.0);
    let top = truth.largest().max(DoubleDouble::from(stored));
    if top <= DoubleDouble::ZERO {
        // Without variance all that can be claimed is 0.
        return Vec::new();
    }
    let comparison = Comparison::new(claimed, truth, top);
    let mut checks = comparison.residuals();
    checks.extend(comparison.orthogonality());
    checks.extend(comparison.none_missed());
    // Where something may have been overlooked, the rest holds only on the condition that nothing was.
    let conditional = claimed.certificate.is_conditional();
    if conditional && !comparison.nothing_was_missed() {
        return checks;
    }
    let bounds = [comparison.values(), comparison.angles(), comparison.groups()];
    checks.extend(bounds.into_iter().flatten().map(|check| match conditional {
        true => Check { claim: Claim::Conditional, ..check },
        false => check,
    }));
    checks
}

fn wide_vectors(claimed: &Claimed) -> Vec<Option<Vec<DoubleDouble>>> {
    let wide = |v: &Vec<f64>| {
        let mut wide: Vec<DoubleDouble> = v.iter().map(|&v| DoubleDouble::from(v)).collect();
        if !claimed.unit_vectors {
            let length = norm(&wide);
            wide.iter_mut().for_each(|v| *v = *v / length);
        }
        wide
    };
    claimed.vectors.iter().map(|v| v.as_ref().map(wide)).collect()
}

struct Comparison<'a> {
    claimed: &'a Claimed<'a>,
    truth: &'a Truth,
    /// The largest value: the unit of what is claimed.
    top: DoubleDouble,
    vectors: Vec<Option<Vec<DoubleDouble>>>,
    /// `S u − λ u` of each of them, in that unit.
    rests: Vec<Option<Vec<DoubleDouble>>>,
}

impl<'a> Comparison<'a> {
    fn new(claimed: &'a Claimed<'a>, truth: &'a Truth, top: DoubleDouble) -> Comparison<'a> {
        let vectors = wide_vectors(claimed);
        let rest = |(u, &value): (&Option<Vec<DoubleDouble>>, &f64)| {
            let u = u.as_ref()?;
            let mut rest = truth.apply(u);
            add_scaled(&mut rest, -DoubleDouble::from(value), u);
            rest.iter_mut().for_each(|v| *v = *v / top);
            Some(rest)
        };
        let rests = vectors.iter().zip(claimed.values).map(rest).collect();
        Comparison { claimed, truth, top, vectors, rests }
    }

    fn stored(&self, j: usize) -> DoubleDouble {
        DoubleDouble::from(self.claimed.values[j])
    }

    fn values(&self) -> Vec<Check> {
        let bounds = self.claimed.certificate.value_errors.iter().enumerate();
        let check = |(j, &bound): (usize, &f64)| {
            let error = (self.stored(j) - self.truth.value(j)).abs() / self.top;
            // What the truth calls 0 is so small that it cannot tell.
            let known = self.truth.value(j) != DoubleDouble::ZERO;
            let allowance = if known { 1e-26 } else { 1e-24 };
            Check { claim: Claim::Value, component: j, bound, found: error.to_f64(), allowance }
        };
        bounds.map(check).collect()
    }

    fn angles(&self) -> Vec<Check> {
        let bounds = self.claimed.certificate.angles.iter().zip(&self.vectors).enumerate();
        let claimed = bounds.filter(|(_, (bound, _))| **bound < 1.0);
        let check = |(j, (&bound, u)): (usize, (&f64, &Option<Vec<DoubleDouble>>))| {
            let u = u.as_ref()?;
            let sine = norm(&self.truth.outside(u, j..j + 1)) / norm(u);
            let allowance = self.truth.noise(j..j + 1);
            let found = sine.to_f64();
            Some(Check { claim: Claim::Angle, component: j, bound, found, allowance })
        };
        claimed.filter_map(check).collect()
    }

    fn groups(&self) -> Vec<Check> {
        let certificate = self.claimed.certificate;
        let mut checks = Vec::new();
        for (group, &bound) in certificate.groups.iter().zip(&certificate.group_angles) {
            let rest: Option<Vec<Vec<DoubleDouble>>> = group
                .clone()
                .map(|j| Some(self.truth.outside(self.vectors.get(j)?.as_ref()?, group.clone())))
                .collect();
            let Some(rest) = rest.filter(|_| bound < 1.0) else { continue };
            checks.push(Check {
                claim: Claim::Group,
                component: group.start,
                bound,
                found: spectral_norm(&rest),
                allowance: self.truth.noise(group.clone()),
            });
        }
        checks
    }

    fn residuals(&self) -> Vec<Check> {
        let bounds = self.claimed.certificate.residuals.iter().zip(&self.rests).enumerate();
        let check = |(j, (&bound, rest)): (usize, (&f64, &Option<Vec<DoubleDouble>>))| {
            let rest = rest.as_ref()?;
            let (found, allowance) = (norm(rest).to_f64(), measured(rest.len()));
            Some(Check { claim: Claim::Residual, component: j, bound, found, allowance })
        };
        bounds.filter_map(check).collect()
    }

    fn orthogonality(&self) -> Option<Check> {
        if !self.claimed.unit_vectors {
            return None;
        }
        let kept: Vec<&Vec<DoubleDouble>> = self.vectors.iter().flatten().collect();
        let mut found = 0.0f64;
        for (i, a) in kept.iter().enumerate() {
            for (j, b) in kept.iter().enumerate().take(i + 1) {
                let unit = DoubleDouble::from(f64::from(u8::from(i == j)));
                found = found.max((dot(a, b) - unit).abs().to_f64());
            }
        }
        let bound = self.claimed.certificate.orthogonality;
        let allowance = measured(kept.first().map_or(0, |u| u.len()));
        Some(Check { claim: Claim::Orthogonality, component: 0, bound, found, allowance })
    }

    /// The Frobenius norm of the residuals of the first `rank` components.
    fn residual(&self, rank: usize) -> f64 {
        let squares = self.rests.iter().take(rank).flatten().map(|rest| dot(rest, rest).to_f64());
        squares.sum::<f64>().sqrt()
    }

    /// A stored value over the largest.
    fn share(&self, j: usize) -> f64 {
        (self.stored(j) / self.top).to_f64()
    }

    /// Whether the true values agree with the stored ones as far as the residuals tell, and no other is above the last.
    fn nothing_was_missed(&self) -> bool {
        let rank = self.claimed.certificate.rank.min(self.claimed.values.len());
        let truth = |j: usize| (self.truth.value(j) / self.top).to_f64();
        let off = self.residual(rank) + 1e-13;
        let next = rank.checked_sub(1).is_none_or(|last| truth(rank) <= self.share(last) + 1e-13);
        next && (0..rank).all(|j| (truth(j) - self.share(j)).abs() <= off)
    }

    /// Of k orthonormal vectors with residuals R, k true values can be matched to the k stored ones, none further from
    /// its own than ‖R‖ (Kahan 1967), here by its Frobenius norm. Were these the k largest, no true value could lie further above the stored
    /// one at its position: one that does shows that another was overlooked.
    fn none_missed(&self) -> Vec<Check> {
        let certificate = self.claimed.certificate;
        let rank = certificate.rank.min(self.claimed.values.len());
        let residual = self.residual(rank);
        let check = |component: usize, bound: f64, found: DoubleDouble| {
            let (found, allowance) = ((found / self.top).to_f64(), 1e-13);
            Check { claim: Claim::NoneMissed, component, bound: bound + residual, found, allowance }
        };
        let share = |j: usize| self.share(j);
        match certificate.none_missed {
            NoneMissed::Disproved => Vec::new(),
            NoneMissed::Probabilistic { bound, .. } if bound >= 1.0 => {
                // What is above the limit stated is among what was found.
                let Some(last) = rank.checked_sub(1).filter(|_| bound.is_finite()) else {
                    return Vec::new();
                };
                let limit = bound * share(last);
                let found = (0..rank).filter(|&j| share(j) >= limit - residual).count();
                vec![check(found, limit, self.truth.value(found))]
            }
            _ => (0..rank).map(|j| check(j, share(j), self.truth.value(j))).collect(),
        }
    }
}

/// The largest singular value of a matrix with these rows.
fn spectral_norm(rows: &[Vec<DoubleDouble>]) -> f64 {
    let Some(first) = rows.first() else { return 0.0 };
    let matrix = Matrix::from_fn(rows.len(), first.len(), |i, j| rows[i][j]);
    let (values, _) = symmetric_eigen(matrix.gram());
    values.first().map_or(0.0, |v| v.sqrt().to_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::claimed;
    use eigenlens::Pca;
    use ndarray::Array2;

    /// The corners of a box: the covariance is diagonal, 8/7 times the squares of half its sides.
    fn cross() -> (Array2<f64>, Truth) {
        let sides = [1.75f64, 1.5, 1.0];
        let x = Array2::from_shape_fn((8, 3), |(i, f)| {
            let bits = [1usize, 2, 4];
            if i & bits[f] == 0 { sides[f] } else { -sides[f] }
        });
        let factor = DoubleDouble::from(8.0) / DoubleDouble::from(7.0);
        let entry = |i: usize, j: usize| match i == j {
            true => DoubleDouble::from(sides[i] * sides[i]) * factor,
            false => DoubleDouble::ZERO,
        };
        (x, Truth::of_symmetric(Matrix::from_fn(3, 3, entry)))
    }

    fn false_claims(claimed: &Claimed, truth: &Truth) -> Vec<Claim> {
        let checks = compare(claimed, truth);
        checks.iter().filter(|check| check.is_false()).map(|check| check.claim).collect()
    }

    #[test]
    fn what_is_claimed_of_a_small_table_is_true() {
        let (x, truth) = cross();
        let model = Pca::new(2).fit(&x).unwrap();
        assert_eq!(false_claims(&claimed(&model), &truth), []);
    }

    /// Every number of a model and of its certificate is looked at.
    #[test]
    fn what_is_spoilt_is_found() {
        let (x, truth) = cross();
        let model = Pca::new(2).fit(&x).unwrap();
        let honest = claimed(&model);
        let mut values = honest.values.to_vec();
        values[1] *= 1.0 + 1e-9;
        let found = false_claims(&Claimed { values: &values, ..claimed(&model) }, &truth);
        assert_eq!(found, [Claim::Residual, Claim::Value]);
        // Turned by 1e-9: the value does not see that, the residual, the angle and the length do.
        let mut vectors = honest.vectors.clone();
        vectors[0] = Some(vec![1.0, 0.0, 1e-9]);
        vectors[1] = Some(vec![1e-7, 1.0, 0.0]);
        let found = false_claims(&Claimed { vectors, ..claimed(&model) }, &truth);
        let residuals = [Claim::Residual, Claim::Residual];
        assert_eq!(found[..2], residuals);
        assert_eq!(found[2..], [Claim::Orthogonality, Claim::Angle, Claim::Angle]);
        // The second and the third in place of the first two.
        let values: Vec<f64> = [1, 2].map(|j| truth.value(j).to_f64()).to_vec();
        let unit = |f: usize| Some((0..3).map(|g| f64::from(u8::from(f == g))).collect());
        let vectors = vec![unit(1), unit(2)];
        let found = false_claims(&Claimed { values: &values, vectors, ..claimed(&model) }, &truth);
        assert!(
            found.contains(&Claim::NoneMissed) && !found.contains(&Claim::Residual),
            "{found:?}"
        );
        // A group whose span is off.
        let mut certificate = model.certificate().clone();
        certificate.groups = std::iter::once(0..2).collect();
        certificate.group_angles = vec![1e-12];
        let mut vectors = claimed(&model).vectors;
        vectors[1] = Some(vec![0.0, 1.0, 1e-8]);
        let spoilt = Claimed { vectors, certificate: &certificate, ..claimed(&model) };
        assert!(false_claims(&spoilt, &truth).contains(&Claim::Group));
    }
}
