//! The list of matrices that break PCA software: equal and clustered variances, noise, outliers.

use crate::support::{Storage, Table};
use crate::torture_support::*;
use eigenlens::n_components::{self, Need};
use eigenlens::solver::{Evidence, NoneMissed};
use eigenlens::{Dataset, NComponents, Pca, Route, Rule, Solver, Warning};
use ndarray::{Array2, Axis, concatenate, s};

#[test]
fn line_29_two_equal_variances() {
    for d in [8, 450] {
        let mut values = vec![3.0, 3.0];
        values.extend((2..d.min(60)).map(|j| 0.9f64.powi(j as i32)));
        let x = mirrored(&with_singular_values(29, d, d, &values));
        let divisor = (2 * d - 1) as f64;
        for solver in EXACT_ROUTES {
            // The iteration stops at its tolerance, not at rounding.
            let model = match d {
                8 => fit_ok(&x, true, 4, solver),
                _ => Pca::new(4).solver(solver).fit(&x).unwrap(),
            };
            assert!(model.certificate().relative_residual() < 1e-9);
            relatively_close(model.explained_variance()[0], 18.0 / divisor, 1e-12);
            relatively_close(model.explained_variance()[1], 18.0 / divisor, 1e-12);
            let certificate = model.certificate();
            assert_eq!(certificate.groups, std::iter::once(0..2).collect::<Vec<_>>(), "{solver:?}");
            assert_eq!(certificate.angles[..2], [1.0, 1.0]);
            assert!(certificate.group_angles[0] < 1e-7, "{:?}", certificate.group_angles);
            assert!(certificate.angles[2] < 1e-6);
            assert!(certificate.to_string().contains("components 1–2 only together"));
        }
    }
}

/// Errors of float32 sums lie in all directions of a flat spectrum, where probes see them many times over:
/// the components are then measured themselves, not computed again on the slowest route.
#[test]
fn many_components_of_float32_noise_are_certified_where_they_are() {
    let (n, d, k) = (6_000, 600, 40);
    let mut random = Random::new(30);
    let x = Array2::from_shape_simple_fn((n, d), || random.normal() as f32 + 3.0);
    let model = Pca::new(k).fit(&x).unwrap();
    assert_eq!(model.plan().route, Route::Covariance);
    assert!(!has(&model, |w| matches!(w, Warning::Escalated { .. })), "{:?}", model.warnings());
    let certificate = model.certificate();
    assert_eq!(certificate.evidence, Evidence::Data);
    let centered = centered(&widened(&x));
    let top = model.explained_variance()[0];
    for (j, &stated) in certificate.residuals.iter().enumerate().take(k) {
        let component = model.components().row(j).to_owned();
        let image = centered.t().dot(&centered.dot(&component)) / (n as f64 - 1.0);
        let rest = image - &component * model.explained_variance()[j];
        let residual = rest.dot(&rest).sqrt() / top;
        assert!(residual < 1e-6 && (stated - residual).abs() < 1e-12, "{stated} for {residual}");
    }
}

/// A share that takes few, many or nearly all components, of values that fall and of noise: as many as
/// the whole spectrum says, whichever way there.
#[test]
fn shares_of_variance_need_as_many_components_as_the_spectrum_says() {
    for (n, d) in [(1_500, 700), (400, 900)] {
        for falling in [false, true] {
            let mut x = Random::new(7).normals(n, d);
            if falling {
                let scale = |f: usize| 0.2 + 20.0 / (1.0 + f as f64);
                x.columns_mut().into_iter().enumerate().for_each(|(f, mut c)| c *= scale(f));
            }
            let data = Dataset::from(&x);
            let all = Pca::new(NComponents::All).fit(&data).unwrap();
            for share in [0.1, 0.5, 0.8, 0.99] {
                let (mut sum, target) = (0.0, share * all.total_variance());
                let expected = 1 + all
                    .explained_variance()
                    .iter()
                    .position(|v| {
                        sum += v;
                        sum >= target
                    })
                    .unwrap();
                let model = Pca::new(NComponents::VarianceShare(share)).fit(&data).unwrap();
                assert_eq!(model.n_components(), expected, "{n} × {d}, {share}, {falling}");
                let found = model.explained_variance().iter().zip(all.explained_variance());
                found.for_each(|(&a, &b)| relatively_close(a, b, 1e-8));
            }
        }
    }
}

/// Variances below what float32 sums can tell, in a stream that turns out to have fewer rows than features:
/// no route but the iteration is left, and it must not be given up for another.
#[test]
fn the_last_route_is_not_given_up() {
    for d in [60, 150, 400] {
        let mut x = Random::new(8).normals(d - 20, d);
        x.columns_mut().into_iter().skip(4).for_each(|mut column| column *= 1e-5);
        let table = Table::<f32>::new(&x, Storage::Streamed(7, false));
        let model = Pca::new(NComponents::VarianceShare(1.0)).fit(table.dataset()).unwrap();
        assert_eq!(model.plan().route, Route::Iterative, "{d}: {}", model.plan());
        assert!(model.n_components() > 4, "the small ones count too");
        let (values, _) = oracle(&widened(&to_f32(&x)), true);
        relatively_close(model.explained_variance()[0], values[0], 1e-6);
    }
}

#[test]
fn line_31_clustered_top() {
    let d = 500;
    let mut random = Random::new(31);
    let mut values: Vec<f64> =
        (0..100).map(|_| 1.0 + 1e-6 * (2.0 * random.uniform() - 1.0)).collect();
    values.extend((0..400).map(|j| 0.5 * 0.98f64.powi(j)));
    let singular: Vec<f64> = values.iter().map(|v| v.sqrt()).collect();
    let x = mirrored(&with_singular_values(31, d, d, &singular));
    values.sort_by(|a, b| b.total_cmp(a));
    let divisor = (2 * d - 1) as f64;
    for solver in [Solver::Auto, Solver::Covariance, Solver::Svd, Solver::Iterative] {
        let model = Pca::new(5).solver(solver).fit(&x).unwrap();
        let certificate = model.certificate();
        let said = has(&model, |w| matches!(w, Warning::NotCertified { .. }));
        let converged = certificate.relative_residual() <= 1e-9;
        assert!(converged || said, "{solver:?}: {certificate}");
        if converged {
            // Nothing missed: each of the five is the value it should be, to what was asked.
            for (found, expected) in model.explained_variance().iter().zip(&values) {
                relatively_close(*found, 2.0 * expected / divisor, 1e-8);
            }
            assert!(!matches!(certificate.none_missed, NoneMissed::Disproved), "{solver:?}");
        }
    }
}

#[test]
fn line_32_pure_noise() {
    let x = Random::new(32).normals(1000, 500);
    for rule in [Rule::ParallelAnalysis, Rule::GavishDonoho { noise: Some(1.0) }] {
        let model = Pca::new(NComponents::Rule(rule)).fit(&x).unwrap();
        assert_eq!(model.n_components(), 1);
        assert!(has(&model, |w| matches!(w, Warning::RuleFindsNone { .. })), "{rule:?}");
    }
    // The edge of Marchenko & Pastur: (1 + √(d/n))² = 2.914.
    let model = Pca::new(1).fit(&x).unwrap();
    close(model.explained_variance()[0], 2.914, 0.08);
}

#[test]
fn line_33_one_spike() {
    // Detectable above √(d/n) = 0.32 (spike in variance beyond the noise of 1).
    for (spike, expected) in [(0.05f64, 0), (6.0, 1)] {
        let mut random = Random::new(33);
        let mut x = random.normals(1000, 100);
        for mut row in x.rows_mut() {
            let along = random.normal() * spike.sqrt();
            row.mapv_inplace(|v| v + along / 10.0);
        }
        for rule in [
            Rule::ParallelAnalysis,
            Rule::GavishDonoho { noise: None },
            Rule::GavishDonoho { noise: Some(1.0) },
        ] {
            let model = Pca::new(NComponents::Rule(rule)).fit(&x).unwrap();
            let none = has(&model, |w| matches!(w, Warning::RuleFindsNone { .. }));
            let found = if none { 0 } else { model.n_components() };
            assert_eq!(found, expected, "{rule:?}, spike {spike}");
        }
    }
}

#[test]
fn line_34_one_huge_row() {
    let mut x = Random::new(34).normals(200, 6);
    let direction = [1e12, -2e12, 0.0, 5e11, 3e12, 1e12];
    x.row_mut(77).assign(&ndarray::arr1(&direction));
    let length = direction.iter().map(|v| v * v).sum::<f64>().sqrt();
    for solver in EXACT_ROUTES {
        let model = fit_ok(&x, true, 1, solver);
        for (found, expected) in model.components().row(0).iter().zip(direction) {
            close(*found, expected / length, 1e-11);
        }
        assert!(
            has(
                &model,
                |w| matches!(w, Warning::DominantRow { component: 0, row: 77, share } if *share > 0.99)
            ),
            "{:?}",
            model.warnings()
        );
        let samples = model.sample_diagnostics(&x).unwrap();
        let first = (0..200).max_by(|&a, &b| samples.t_squared[a].total_cmp(&samples.t_squared[b]));
        assert_eq!(first, Some(77));
        close(samples.leverage[77], 1.0, 1e-9);
    }
}

#[test]
fn line_35_heavy_tails() {
    let mut random = Random::new(35);
    let x = Array2::from_shape_simple_fn((500, 5), || {
        (std::f64::consts::PI * (random.uniform() - 0.5)).tan()
    });
    for solver in EXACT_ROUTES {
        let model = fit_ok(&x, true, 5, solver);
        for component in 0..5 {
            assert!(
                has(&model, |w| match w {
                    Warning::HeavyTails { components, kurtosis } =>
                        components.contains(&component) && *kurtosis > 10.0,
                    Warning::DominantRow { component: c, .. } => *c == component,
                    _ => false,
                }),
                "{solver:?}, component {component}: {:?}",
                model.warnings()
            );
        }
        // Normal data are not accused of it.
        let normal = fit_ok(&Random::new(3).normals(500, 5), true, 5, solver);
        assert!(normal.warnings().is_empty(), "{:?}", normal.warnings());
    }
}

#[test]
fn lines_29_31_squares_of_a_rotation_are_one_group() {
    // A whole spectrum of equal values, wide and tall, through the iteration too.
    for (n, d) in [(600, 420), (420, 600)] {
        let values = vec![2.0; 30];
        let x = mirrored(&with_singular_values(6, n, d, &values));
        for solver in [Solver::Covariance, Solver::Dual, Solver::Iterative] {
            let model = Pca::new(32).solver(solver).fit(&x).unwrap();
            assert_eq!(model.rank(), 30, "{solver:?} {n} × {d}");
            let found = model.components().slice(s![..30, ..]).to_owned();
            // Their span is the row space: it keeps the data whole.
            let kept = x.dot(&found.t()).dot(&found);
            assert!((&kept - &x).iter().all(|v| v.abs() < 1e-8), "{solver:?}");
            assert_eq!(model.certificate().groups[0], 0..30);
        }
    }
}

/// What the rules that look at the spectrum alone choose, as a table of names and numbers.
fn choices(x: &Array2<f64>) -> Vec<(&'static str, Option<usize>)> {
    let model = Pca::new(NComponents::All).fit(x).unwrap();
    let rules: Vec<Rule> = Rule::all().into_iter().filter(|r| r.need() != Need::Data).collect();
    let outcomes = n_components::apply_all(&rules, &model.spectrum().unwrap().view(), None, 1);
    outcomes.iter().map(|o| (o.rule().name(), o.n_components())).collect()
}

#[test]
fn constant_columns_change_no_rule() {
    // Two planted directions in eight, and noise.
    let mut values = vec![60.0, 40.0];
    values.extend((0..6).map(|j| 10.0 - 0.2 * j as f64));
    let x = with_singular_values(3, 100, 8, &values);
    let ones = Array2::ones((100, 1));
    let wider =
        concatenate![Axis(1), x.slice(s![.., ..3]), ones, x.slice(s![.., 3..]), 7.0 * &ones];
    let expected = choices(&x);
    assert!(expected.contains(&("minka", Some(2))), "{expected:?}");
    assert_eq!(choices(&wider), expected);
    // The same on the way of a fit.
    for rule in [Rule::Minka, Rule::Bic, Rule::GavishDonoho { noise: None }] {
        let fit = |x: &Array2<f64>| Pca::new(NComponents::Rule(rule)).fit(x).unwrap();
        assert_eq!(fit(&x).n_components(), fit(&wider).n_components(), "{}", rule.name());
    }
}

#[test]
fn a_dependent_column_is_a_column_with_very_little_noise() {
    let mut random = Random::new(12);
    let (x, noise) = (random.normals(1000, 9), random.normals(1000, 1));
    let with_last = |extra: f64| {
        let last = x.mean_axis(Axis(1)).unwrap().insert_axis(Axis(1)) + extra * &noise;
        concatenate![Axis(1), x, last]
    };
    for rule in [Rule::Minka, Rule::Bic] {
        for extra in [1e-6, 1e-9, 0.0] {
            let fit = Pca::new(NComponents::Rule(rule)).fit(Dataset::from(&with_last(extra)));
            assert_eq!(fit.unwrap().n_components(), 9, "{} {extra}", rule.name());
        }
    }
    let exact = choices(&with_last(0.0));
    assert_eq!(choices(&with_last(1e-9)), exact);
    assert_eq!(choices(&with_last(1e-6)), exact);
}
