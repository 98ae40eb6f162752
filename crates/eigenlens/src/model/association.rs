//! How components go with what else is known of the samples: numbers by correlation, groups by the share of
//! variance between them.
//!
//! Both tests are the same one: of n samples a component has the share x of its variance left within groups (or
//! around a line), and if scores were normal and went with nothing, x would be a beta variable. Hence
//! `p = I_x((n − g)/2, (g − 1)/2)` for g groups, with g = 2 for a line (Fisher 1925): Student's t and Fisher's F
//! without their tails, in which digits are lost.

use super::diagnostics::{check_length, norm, ratio};
use crate::error::{Error, Result};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis};
use statrs::function::beta::checked_beta_reg;
use std::cmp::Ordering;
use std::collections::HashMap;

/// What is known of each sample beside its features.
#[derive(Clone, Debug, PartialEq)]
pub enum Annotation {
    /// A number; NaN where none is known.
    Numbers(Vec<f64>),
    /// One of several groups.
    Groups {
        /// Their names, in the order in which they appear.
        names: Vec<String>,
        /// The group of each sample, counted from 0; none where it is not known.
        of: Vec<Option<usize>>,
    },
}

/// How one annotation goes with one component, over the samples of which it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Association {
    /// Samples of which the annotation is known.
    pub n_samples: usize,
    /// Groups among them; none for numbers.
    pub n_groups: Option<usize>,
    /// The correlation with numbers, from −1 to 1, or the share `η²` of the component's variance that lies
    /// between groups; none where there are too few samples or nothing varies.
    pub value: Option<f64>,
    /// The probability of a value at least as far from 0, were the scores normal and independent of the
    /// annotation.
    pub p_value: Option<f64>,
    /// The same adjusted for all tests of the table (Benjamini & Hochberg 1995): of the associations with at most
    /// q, a share q is expected to be false.
    pub adjusted_p_value: Option<f64>,
}

/// How a group lies on one component.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct GroupMean {
    /// Samples of the group.
    pub n_samples: usize,
    /// The mean of their scores.
    pub mean: f64,
    /// How far it lies from the mean of all, in standard errors of a group of this size drawn at random without
    /// replacement; none where that is 0.
    pub v_test: Option<f64>,
}

/// Every annotation with every component of `scores` (n × k): annotations × components.
pub fn associations(
    scores: ArrayView2<f64>,
    annotations: &[Annotation],
) -> Result<Array2<Association>> {
    check_scores(scores)?;
    let mut found = Vec::with_capacity(annotations.len() * scores.ncols());
    for annotation in annotations {
        check_length("an annotation", annotation.len(), scores.nrows())?;
        found.extend(scores.columns().into_iter().map(|z| match annotation {
            Annotation::Numbers(y) => with_numbers(z, y),
            Annotation::Groups { of, .. } => with_groups(z, of),
        }));
    }
    adjust(&mut found);
    Array2::from_shape_vec((annotations.len(), scores.ncols()), found)
        .map_err(|error| Error::Internal(error.to_string()))
}

/// Every group of an annotation on every component of `scores` (n × k): groups × components.
pub fn group_means(scores: ArrayView2<f64>, groups: &[Option<usize>]) -> Result<Array2<GroupMean>> {
    check_scores(scores)?;
    check_length("the groups", groups.len(), scores.nrows())?;
    let n_groups = groups.iter().flatten().max().map_or(0, |last| last + 1);
    let mut means = Array2::from_elem(
        (n_groups, scores.ncols()),
        GroupMean { n_samples: 0, mean: 0.0, v_test: None },
    );
    for (z, mut column) in scores.columns().into_iter().zip(means.axis_iter_mut(Axis(1))) {
        let known = Known::groups(z, groups);
        let n = known.z.len() as f64;
        let variance = (norm(known.z.view()) / (n - 1.0).sqrt()).powi(2);
        for (group, (size, mean)) in known.means().into_iter().enumerate() {
            let error = (variance / size as f64 * (n - size as f64) / n).sqrt();
            let v_test = (size > 0 && error > 0.0).then(|| mean / error);
            let mean = if size > 0 { known.mean + mean } else { 0.0 };
            column[group] = GroupMean { n_samples: size, mean, v_test };
        }
    }
    Ok(means)
}

impl Annotation {
    /// What texts say of samples, none where one is not known: numbers where all are, otherwise groups. Nothing
    /// where less than two samples share a text on average: these are names.
    pub fn from_texts<'t>(texts: &[Option<&'t str>]) -> Option<Annotation> {
        let number =
            |text: &Option<&str>| text.map_or(Some(f64::NAN), |text| text.trim().parse().ok());
        let known = texts.iter().flatten().count();
        if known == 0 {
            return None;
        }
        if let Some(numbers) = texts.iter().map(number).collect::<Option<Vec<f64>>>() {
            return Some(Annotation::Numbers(numbers));
        }
        let (mut names, mut numbers) = (Vec::new(), HashMap::new());
        let mut group = |text: &'t str| {
            *numbers.entry(text).or_insert_with(|| {
                names.push(text.to_owned());
                names.len() - 1
            })
        };
        let of = texts.iter().map(|text| text.map(&mut group)).collect();
        (2 * names.len() <= known).then_some(Annotation::Groups { names, of })
    }

    /// The number of samples.
    pub fn len(&self) -> usize {
        match self {
            Annotation::Numbers(numbers) => numbers.len(),
            Annotation::Groups { of, .. } => of.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The samples of which an annotation is known: their scores about the mean of these.
struct Known<V> {
    z: Array1<f64>,
    mean: f64,
    values: Vec<V>,
}

impl<V> Known<V> {
    fn new(of: impl Iterator<Item = (f64, V)>) -> Known<V> {
        let (z, values): (Vec<f64>, Vec<V>) = of.unzip();
        let (z, mean) = about_mean(z.into());
        Known { z, mean, values }
    }
}

impl Known<usize> {
    fn groups(z: ArrayView1<f64>, groups: &[Option<usize>]) -> Known<usize> {
        Known::new(z.iter().zip(groups).filter_map(|(&z, group)| Some((z, (*group)?))))
    }

    /// Size and mean of each group, about the mean of all.
    fn means(&self) -> Vec<(usize, f64)> {
        let n_groups = self.values.iter().max().map_or(0, |last| last + 1);
        let mut found = vec![(0, 0.0); n_groups];
        for (z, &group) in self.z.iter().zip(&self.values) {
            found[group].0 += 1;
            found[group].1 += z;
        }
        found.into_iter().map(|(size, sum)| (size, ratio(sum, size as f64))).collect()
    }
}

fn with_numbers(z: ArrayView1<f64>, y: &[f64]) -> Association {
    let known = Known::new(z.iter().zip(y).filter(|(_, y)| y.is_finite()).map(|(&z, &y)| (z, y)));
    let n_samples = known.z.len();
    let (y, _) = about_mean(Array1::from(known.values));
    let (length, along) = (norm(known.z.view()), norm(y.view()));
    let defined = n_samples > 2 && length > 0.0 && along > 0.0;
    let value = defined.then(|| {
        known
            .z
            .iter()
            .zip(&y)
            .map(|(z, y)| (z / length) * (y / along))
            .sum::<f64>()
            .clamp(-1.0, 1.0)
    });
    let p_value = value.and_then(|r| tail((1.0 - r) * (1.0 + r), n_samples, 2));
    Association { n_samples, n_groups: None, value, p_value, adjusted_p_value: None }
}

fn with_groups(z: ArrayView1<f64>, groups: &[Option<usize>]) -> Association {
    let known = Known::groups(z, groups);
    let (n_samples, means) = (known.z.len(), known.means());
    let n_groups = means.iter().filter(|(size, _)| *size > 0).count();
    let within: Array1<f64> =
        known.z.iter().zip(&known.values).map(|(z, &group)| z - means[group].1).collect();
    let length = norm(known.z.view());
    let defined = n_groups > 1 && n_samples > n_groups && length > 0.0;
    let left = defined.then(|| (norm(within.view()) / length).powi(2).min(1.0));
    Association {
        n_samples,
        n_groups: Some(n_groups),
        value: left.map(|left| 1.0 - left),
        p_value: left.and_then(|left| tail(left, n_samples, n_groups)),
        adjusted_p_value: None,
    }
}

/// The numbers about their mean, and the mean.
fn about_mean(mut numbers: Array1<f64>) -> (Array1<f64>, f64) {
    // About the first one, so that the sum has no digits to lose where all are far from 0.
    let Some(&first) = numbers.first() else { return (numbers, 0.0) };
    let shift = numbers.iter().map(|v| v - first).sum::<f64>() / numbers.len() as f64;
    let mean = first + shift;
    numbers.mapv_inplace(|v| (v - first) - shift);
    (numbers, mean)
}

/// The probability that the share `left` or less is left within g groups of n samples.
fn tail(left: f64, n: usize, groups: usize) -> Option<f64> {
    checked_beta_reg((n - groups) as f64 / 2.0, (groups - 1) as f64 / 2.0, left).ok()
}

/// Benjamini & Hochberg's step-up: the smallest `p m / rank` of those at least as large.
fn adjust(found: &mut [Association]) {
    let mut tests: Vec<usize> = (0..found.len()).filter(|&i| found[i].p_value.is_some()).collect();
    tests.sort_by(|&a, &b| {
        found[b].p_value.partial_cmp(&found[a].p_value).unwrap_or(Ordering::Equal)
    });
    let (count, mut least) = (tests.len() as f64, 1.0f64);
    for (place, &i) in tests.iter().enumerate() {
        let rank = count - place as f64;
        least = least.min(found[i].p_value.unwrap_or(1.0) * count / rank);
        found[i].adjusted_p_value = Some(least);
    }
}

fn check_scores(scores: ArrayView2<f64>) -> Result<()> {
    match scores.indexed_iter().find(|(_, z)| !z.is_finite()) {
        None => Ok(()),
        Some(((row, column), z)) => Err(Error::Parameter {
            name: "scores",
            value: format!("{z} in row {row}, column {column}"),
            expected: "finite",
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::diagnostics::tests::assert_close;
    use super::*;
    use ndarray::{array, s};

    /// R's data set PlantGrowth (Dobson 1983): dried weights under a control and two treatments.
    const PLANTS: [f64; 30] = [
        4.17, 5.58, 5.18, 6.11, 4.50, 4.61, 5.17, 4.53, 5.33, 5.14, 4.81, 4.17, 4.41, 3.59, 5.87,
        3.83, 6.03, 4.89, 4.32, 4.69, 6.31, 5.12, 5.54, 5.50, 5.37, 5.29, 4.92, 6.15, 5.80, 5.26,
    ];

    fn column(numbers: &[f64]) -> Array2<f64> {
        Array2::from_shape_fn((numbers.len(), 1), |(i, _)| numbers[i])
    }

    fn groups(of: Vec<Option<usize>>) -> Annotation {
        let names = (0..9).map(|group| group.to_string()).collect();
        Annotation::Groups { names, of }
    }

    fn thirds() -> Vec<Option<usize>> {
        (0..30).map(|i| Some(i / 10)).collect()
    }

    #[test]
    fn groups_give_the_published_analysis_of_variance() {
        let found = associations(column(&PLANTS).view(), &[groups(thirds())]).unwrap();
        let found = found[[0, 0]];
        // R's summary(aov(weight ~ group)): sums of squares 3.766 and 10.492, F 4.846, p 0.0159.
        assert_close(found.value.unwrap(), 3.766 / (3.766 + 10.492), 1e-4);
        assert_close(found.p_value.unwrap(), 0.0159, 5e-5);
        assert_eq!((found.n_samples, found.n_groups), (30, Some(3)));
        let f = found.value.unwrap() / 2.0 / ((1.0 - found.value.unwrap()) / 27.0);
        assert_close(f, 4.846, 5e-4);
    }

    #[test]
    fn numbers_give_the_published_correlation() {
        // Anscombe 1973, the first of four: r = 0.816, two-sided p 0.00217.
        let x = [10.0, 8.0, 13.0, 9.0, 11.0, 14.0, 6.0, 4.0, 12.0, 7.0, 5.0];
        let y = [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68];
        // Nothing changes far from 0 and in other units.
        for (scale, offset) in [(1.0, 0.0), (1e-200, 0.0), (-1e150, 0.0), (1.0, 1e9)] {
            let numbers = x.iter().map(|v| v * scale + offset).collect();
            let found = associations(column(&y).view(), &[Annotation::Numbers(numbers)]).unwrap();
            assert_close(found[[0, 0]].value.unwrap(), 0.81642 * f64::signum(scale), 5e-6);
            assert_close(found[[0, 0]].p_value.unwrap(), 0.00217, 5e-6);
        }
    }

    /// Two groups are a number that is 0 or 1.
    #[test]
    fn two_groups_are_a_line() {
        let z = column(&PLANTS).slice(s![..20, ..]).to_owned();
        let of: Vec<usize> = (0..20).map(|i| usize::from(i % 3 == 0)).collect();
        let found = associations(
            z.view(),
            &[
                groups(of.iter().map(|&g| Some(g)).collect()),
                Annotation::Numbers(of.iter().map(|&g| g as f64).collect()),
            ],
        )
        .unwrap();
        let (two, line) = (found[[0, 0]], found[[1, 0]]);
        assert_close(two.value.unwrap(), line.value.unwrap().powi(2), 1e-14);
        assert_close(two.p_value.unwrap(), line.p_value.unwrap(), 1e-13);
    }

    #[test]
    fn what_is_not_known_is_left_out() {
        let mut numbers: Vec<f64> = (0..30).map(f64::from).collect();
        numbers[7] = f64::NAN;
        let mut of = thirds();
        of[7] = None;
        let annotations = [Annotation::Numbers(numbers), groups(of)];
        let all = associations(column(&PLANTS).view(), &annotations).unwrap();
        let without = |v: &[f64]| -> Vec<f64> {
            v.iter().enumerate().filter(|(i, _)| *i != 7).map(|(_, v)| *v).collect()
        };
        let counted: Vec<f64> = (0..30).map(f64::from).collect();
        let shorter = [
            Annotation::Numbers(without(&counted)),
            groups(
                thirds().into_iter().enumerate().filter(|(i, _)| *i != 7).map(|(_, g)| g).collect(),
            ),
        ];
        let rest = associations(column(&without(&PLANTS)).view(), &shorter).unwrap();
        assert_eq!(all, rest);
        assert_eq!(all[[0, 0]].n_samples, 29);
    }

    #[test]
    fn nothing_is_said_where_nothing_varies() {
        let scores = array![[1.0, 2.0], [1.0, 3.0], [1.0, 5.0]];
        let annotations = [
            Annotation::Numbers(vec![1.0, 2.0, 4.0]),
            Annotation::Numbers(vec![3.0; 3]),
            groups(vec![Some(0); 3]),
            groups(vec![Some(0), Some(1), Some(2)]),
            groups(vec![None; 3]),
        ];
        let found = associations(scores.view(), &annotations).unwrap();
        let defined: Vec<bool> = found.iter().map(|a| a.value.is_some()).collect();
        assert_eq!(defined, [&[false, true][..], &[false; 8]].concat());
        assert!(found.iter().all(|a| a.value.is_some() == a.adjusted_p_value.is_some()));
    }

    #[test]
    fn tests_are_adjusted_for_their_number() {
        // Benjamini & Hochberg 1995, their example of 15 tests: four are found at 0.05.
        let printed = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262,
            0.5719, 0.6528, 0.7590, 1.0,
        ];
        let test = |p: f64| Association {
            n_samples: 10,
            n_groups: None,
            value: Some(0.5),
            p_value: Some(p),
            adjusted_p_value: None,
        };
        let mut tests: Vec<Association> = printed.iter().rev().map(|&p| test(p)).collect();
        adjust(&mut tests);
        let adjusted: Vec<f64> = tests.iter().rev().filter_map(|t| t.adjusted_p_value).collect();
        assert_eq!(adjusted.iter().filter(|q| **q <= 0.05).count(), 4);
        assert_close(adjusted[3], 0.0095 * 15.0 / 4.0, 1e-15);
        // Never smaller than that of a smaller p-value: 0.0298 × 15/7 is less than 0.0278 × 15/6.
        assert_close(adjusted[5], 0.0298 * 15.0 / 7.0, 1e-15);
        assert!(adjusted.windows(2).all(|pair| pair[0] <= pair[1]));
    }

    #[test]
    fn groups_lie_where_their_samples_do() {
        let found = group_means(column(&PLANTS).view(), &thirds()).unwrap();
        // R's model.tables(aov(weight ~ group), "means"): 5.032, 4.661, 5.526.
        for (group, mean) in [5.032, 4.661, 5.526].into_iter().enumerate() {
            assert_close(found[[group, 0]].mean, mean, 5e-4);
            assert_eq!(found[[group, 0]].n_samples, 10);
        }
        // The standard error of a mean of 10 drawn from these 30 without replacement.
        let mean = PLANTS.iter().sum::<f64>() / 30.0;
        let variance = PLANTS.iter().map(|z| (z - mean).powi(2)).sum::<f64>() / 29.0;
        let error = (variance / 10.0 * (1.0 - 10.0 / 30.0)).sqrt();
        assert_close(found[[2, 0]].v_test.unwrap(), (5.526 - mean) / error, 1e-12);
    }

    #[test]
    fn texts_are_numbers_groups_or_names() {
        let of = |texts: &[&'static str]| {
            let known = texts.iter().map(|t| (*t != "?").then_some(*t)).collect::<Vec<_>>();
            Annotation::from_texts(&known)
        };
        match of(&["1.5", "?", "-2"]) {
            Some(Annotation::Numbers(v)) => assert!(v[0] == 1.5 && v[1].is_nan() && v[2] == -2.0),
            other => panic!("{other:?}"),
        }
        let names = vec!["b".into(), "a".into()];
        let expected = vec![Some(0), Some(1), None, Some(0), Some(1)];
        assert_eq!(
            of(&["b", "a", "?", "b", "a"]),
            Some(Annotation::Groups { names, of: expected })
        );
        assert_eq!((of(&["x", "y", "z"]), of(&["?", "?"])), (None, None));
    }

    #[test]
    fn lengths_and_scores_that_do_not_fit_are_refused() {
        let scores = array![[1.0], [f64::NAN]];
        assert!(associations(scores.view(), &[]).unwrap_err().to_string().contains("row 1"));
        let short = associations(column(&PLANTS).view(), &[Annotation::Numbers(vec![1.0])]);
        assert!(matches!(short, Err(Error::Shape { .. })));
        assert!(group_means(column(&PLANTS).view(), &[None]).is_err());
    }
}
