//! Every input that cannot be right is an error with a type, the right fields, and a hint where one
//! thing would help; never a panic, never nonsense.

use crate::torture_support::*;
use eigenlens::{
    Csr, Dataset, Error, ErrorKind, Hint, Lsa, Moments, NComponents, Options, Pca, Result,
    RowReader, Rows, Rule, SampleWeights, Scalar, Solver,
};
use ndarray::{Array2, ArrayView2, array, s};
use std::sync::atomic::{AtomicUsize, Ordering};

fn hint(option: &'static str, value: &str) -> Option<Hint> {
    Some(Hint::Set { option, value: value.into() })
}

fn failure<T: Scalar>(pca: &Pca, data: &Dataset<T>) -> Error {
    match pca.fit_transform(data) {
        Ok((model, _)) => panic!("a model of {} components", model.n_components()),
        Err(e) => e,
    }
}

/// Lines 36 and 37: the error names the cell.
fn names_the_cell(error: Error, at: (usize, usize), value: f64, label: Option<&str>) {
    let text = error.to_string();
    let (row, column, name) = match &error {
        Error::MissingValue { row, column, name } if value.is_nan() => (*row, *column, name),
        Error::Infinite { row, column, name, value: found } if *found == value => {
            (*row, *column, name)
        }
        other => panic!("{other:?}"),
    };
    assert_eq!((row, column), at);
    assert_eq!(name.as_deref(), label);
    assert!(text.contains(&format!("row {row}")), "{text}");
    assert_eq!(error.kind(), ErrorKind::Data);
    assert_eq!(error.hint(), Some(Hint::DropRow(row)));
}

const BAD: [f64; 3] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];

#[test]
fn lines_36_37_bad_cells_are_named() {
    // (n, d) on both sides of every switch between kernels; the cell in a late block.
    for (n, d, at) in
        [(30, 4, (17, 2)), (900, 12, (899, 11)), (200, 350, (131, 340)), (20, 420, (19, 0))]
    {
        let names: Vec<String> = (0..d).map(|f| format!("f{f}")).collect();
        for value in BAD {
            let mut x = distinct(36, n, d);
            x[at] = value;
            let mut single = to_f32(&x);
            single[at] = value as f32;
            let fortran = x.t().as_standard_layout().into_owned().reversed_axes();
            let streamed = InBlocks::new(&x, 13);
            let mut sparse = sparse_normals(1, n, d, 0.2);
            sparse[at] = value;
            let csr = compressed(&sparse);
            for solver in ROUTES {
                let pca = Pca::new(2).solver(solver);
                let label = format!("f{}", at.1);
                names_the_cell(failure(&pca, &Dataset::from(&x)), at, value, None);
                names_the_cell(failure(&pca, &Dataset::from(&single)), at, value, None);
                names_the_cell(failure(&pca, &Dataset::from(&fortran)), at, value, None);
                let named = Dataset::from(&x).with_feature_names(names.clone()).unwrap();
                names_the_cell(failure(&pca, &named), at, value, Some(&label));
                let tall = n >= d;
                if tall || solver != Solver::Svd {
                    names_the_cell(failure(&pca, &Dataset::sparse(&csr)), at, value, None);
                    if solver != Solver::Dual {
                        names_the_cell(
                            failure(&pca, &Dataset::streamed(&streamed)),
                            at,
                            value,
                            None,
                        );
                    }
                }
                // Also in a row that weighs nothing.
                let mut weights = vec![1.0; n];
                weights[at.0] = 0.0;
                let weighted =
                    Dataset::from(&x).with_weights(SampleWeights::frequency(weights.clone()));
                names_the_cell(failure(&pca, &weighted), at, value, None);
                let weighted =
                    Dataset::sparse(&csr).with_weights(SampleWeights::frequency(weights));
                if tall || solver != Solver::Svd {
                    names_the_cell(failure(&pca, &weighted), at, value, None);
                }
            }
            let error = Moments::of(&x, &Options::default()).unwrap_err();
            names_the_cell(error, at, value, None);
        }
    }
}

#[test]
fn lines_36_37_bad_cells_in_new_data_are_named() {
    for (n, d, at) in [(300, 6, (257, 3)), (40, 400, (39, 1))] {
        let x = distinct(37, n, d);
        for scale in [1.0, 1e-200] {
            let training = x.mapv(|v| v * scale);
            let model = Pca::new(3).fit(&training).unwrap();
            for value in BAD {
                let mut new = training.clone();
                new[at] = value;
                let single = to_f32(&new);
                let streamed = InBlocks::new(&new, 11);
                let csr = compressed(&new);
                names_the_cell(model.transform(&new).unwrap_err(), at, value, None);
                names_the_cell(model.transform(&csr).unwrap_err(), at, value, None);
                names_the_cell(
                    model.transform(Dataset::streamed(&streamed)).unwrap_err(),
                    at,
                    value,
                    None,
                );
                let error = model.transform(&single).unwrap_err();
                if scale == 1.0 {
                    names_the_cell(error, at, value, None);
                } else {
                    // Single precision has no numbers of that size.
                    assert!(matches!(error, Error::Unsupported { .. }), "{error:?}");
                }
                names_the_cell(model.reconstruct(&new).unwrap_err(), at, value, None);
                names_the_cell(model.sample_diagnostics(&new).unwrap_err(), at, value, None);
                let mut sink = |_: ArrayView2<f64>| Ok(());
                names_the_cell(
                    model.transform_blocks(&new, &mut sink).unwrap_err(),
                    at,
                    value,
                    None,
                );
            }
        }
    }
}

#[test]
fn lines_36_37_bad_cells_in_null_directions_are_named() {
    // A column without variance weighs nothing in the components; a hole in it is still a hole.
    let mut x = distinct(38, 30, 4);
    x.column_mut(1).fill(2.0);
    let model = Pca::new(2).standardize(true).fit(&x).unwrap();
    let zeros = Array2::<f64>::zeros((30, 4));
    let flat = Pca::new(2).fit(&zeros).unwrap();
    for value in BAD {
        x[[5, 1]] = value;
        for model in [&model, &flat] {
            names_the_cell(model.transform(&x).unwrap_err(), (5, 1), value, None);
            let csr = compressed(&x);
            names_the_cell(model.transform(&csr).unwrap_err(), (5, 1), value, None);
        }
    }
}

#[test]
fn lines_4_5_8_too_little_data() {
    let one = Csr::new(1, 2, vec![0, 1], vec![0], vec![1.0]).unwrap();
    let none = Csr::<f64>::new(0, 2, vec![0], vec![], vec![]).unwrap();
    let narrow = Csr::<f64>::new(3, 0, vec![0; 4], vec![], vec![]).unwrap();
    for solver in ROUTES {
        let pca = Pca::new(1).solver(solver);
        for counted in [true, false] {
            let blocks =
                |n, d| InBlocks { rows: Array2::<f64>::ones((n, d)), sizes: vec![4], counted };
            if solver != Solver::Dual {
                let data = blocks(0, 2);
                assert!(matches!(failure(&pca, &Dataset::streamed(&data)), Error::NoRows));
                let data = blocks(1, 2);
                let error = failure(&pca, &Dataset::streamed(&data));
                assert!(matches!(error, Error::TooFewRows { found: 1, needed: 2 }), "{error:?}");
            }
            let data = blocks(3, 0);
            assert!(matches!(failure(&pca, &Dataset::streamed(&data)), Error::NoColumns));
        }
        assert!(matches!(failure(&pca, &Dataset::sparse(&none)), Error::NoRows));
        assert!(matches!(failure(&pca, &Dataset::sparse(&narrow)), Error::NoColumns));
        assert!(matches!(
            failure(&pca, &Dataset::sparse(&one)),
            Error::TooFewRows { found: 1, needed: 2 }
        ));
        // Two rows of which one weighs nothing.
        let x = array![[1.0, 2.0], [3.0, 5.0]];
        let data = Dataset::from(&x).with_weights(SampleWeights::frequency([3.0, 0.0]));
        assert!(matches!(failure(&pca, &data), Error::TooFewRows { found: 1, needed: 2 }));
    }
    assert!(matches!(
        Pca::new(1).fit_moments(&Moments::empty(3)),
        Err(Error::TooFewRows { found: 0, .. } | Error::NoRows)
    ));
    let empty = Array2::<f64>::zeros((0, 3));
    let model = Pca::new(1).fit(Dataset::from(&distinct(1, 5, 3))).unwrap();
    assert!(matches!(model.transform(&empty), Err(Error::NoRows)));
}

#[test]
fn options_out_of_range() {
    let x = distinct(3, 10, 4);
    let data = Dataset::from(&x);
    let moments = Moments::of(&data, &Options::default()).unwrap();
    let covariance = moments.covariance();
    let gram = x.dot(&x.t());
    let everywhere = |pca: Pca, option: &str| {
        let errors = [
            pca.fit(&data).map(|_| ()).unwrap_err(),
            pca.plan(&data).map(|_| ()).unwrap_err(),
            pca.fit_moments(&moments).map(|_| ()).unwrap_err(),
            pca.fit_covariance(covariance.view(), None).map(|_| ()).unwrap_err(),
            pca.fit_gram(gram.view()).map(|_| ()).unwrap_err(),
        ];
        for error in errors {
            assert!(
                matches!(&error, Error::Parameter { name, .. } if *name == option),
                "{error:?}"
            );
            assert_eq!(error.kind(), ErrorKind::Usage);
        }
    };
    everywhere(Pca::new(0), "n_components");
    for share in [0.0, -0.5, 1.0 + 1e-9, f64::NAN, f64::INFINITY] {
        everywhere(Pca::new(NComponents::VarianceShare(share)), "n_components");
    }
    for tolerance in [0.0, 1.0, -1e-9, f64::NAN, f64::INFINITY] {
        let options = Options { tolerance: Some(tolerance), ..Options::default() };
        everywhere(Pca::new(2).options(options.clone()), "tolerance");
        assert!(matches!(
            Moments::of(&data, &options),
            Err(Error::Parameter { name: "tolerance", .. })
        ));
    }
    everywhere(Pca::new(2).options(Options { threads: Some(0), ..Options::default() }), "threads");
    let never = Options { max_iterations: 0, ..Options::default() };
    everywhere(Pca::new(2).options(never), "max_iterations");
    for n in [1.0, 0.0, -4.0, f64::NAN, f64::INFINITY] {
        let result = Pca::new(2).fit_covariance(covariance.view(), Some(n));
        assert!(matches!(result, Err(Error::Parameter { name: "n_samples", .. })));
    }
    assert!(matches!(Lsa::new(0).fit(&data), Err(Error::Parameter { .. })));
    for confidence in [0.0, 1.0, -1.0, 2.0, f64::NAN] {
        let model = Pca::new(2).fit(&data).unwrap();
        assert!(model.t_squared_limit_new(confidence).is_err());
        assert!(model.t_squared_limit_training(confidence).is_err());
        assert!(model.q_limit(&data, confidence).is_err());
    }
}

#[test]
fn absurd_solver_options_do_not_overflow() {
    let x = distinct(3, 10, 4);
    for (oversampling, power_iterations) in [(usize::MAX, 1), (usize::MAX / 2, 0), (0, 0)] {
        let solver = Solver::Randomized { oversampling, power_iterations };
        match Pca::new(2).solver(solver).fit(&x) {
            Ok(model) => assert!(model.certificate().relative_residual().is_finite()),
            Err(e) => assert!(matches!(e, Error::Parameter { .. } | Error::Memory { .. }), "{e:?}"),
        }
    }
    // Streamed, n not known: k is checked when the rows have been counted, or before.
    let rows = InBlocks { rows: x.clone(), sizes: vec![3], counted: false };
    for k in [5, 11, usize::MAX - 3, usize::MAX] {
        let error = failure(&Pca::new(k), &Dataset::streamed(&rows));
        assert!(
            matches!(error, Error::TooManyComponents { requested, limit: 4, .. } if requested == k),
            "{error:?}"
        );
    }
}

#[test]
fn weights_that_cannot_be() {
    let x = distinct(4, 6, 3);
    for solver in ROUTES {
        let fails = |weights: SampleWeights| {
            failure(&Pca::new(1).solver(solver), &Dataset::from(&x).with_weights(weights))
        };
        for bad in [-1.0, -1e-300, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let weights = vec![1.0, 1.0, bad, 1.0, bad, 1.0];
            for weights in
                [SampleWeights::frequency(weights.clone()), SampleWeights::relative(weights)]
            {
                let error = fails(weights);
                assert!(matches!(error, Error::Weight { row: 2, .. }), "{error:?}");
                assert_eq!(error.kind(), ErrorKind::Data);
            }
        }
        for weights in [SampleWeights::frequency([0.0; 6]), SampleWeights::relative([0.0; 6])] {
            assert!(matches!(fails(weights), Error::TooFewRows { found: 0, needed: 2 }));
        }
        for count in [0, 1, 5, 7] {
            let error = fails(SampleWeights::frequency(vec![2.0; count]));
            assert!(matches!(error, Error::Shape { .. } | Error::TooFewRows { .. }), "{error:?}");
            if count > 1 {
                assert!(error.to_string().contains(&format!("{count} weights")), "{error}");
            }
        }
        // Normalised weights: a hint that they are relative.
        for total in [1.0, 0.5, 1e-300] {
            let error = fails(SampleWeights::frequency([total / 6.0; 6]));
            assert!(matches!(error, Error::WeightSum { sum } if (sum / total - 1.0).abs() < 1e-12));
            assert_eq!(error.hint(), hint("weights", "relative"));
            let weighted =
                Dataset::from(&x).with_weights(SampleWeights::relative([total / 6.0; 6]));
            let plain = Pca::new(1).solver(solver).fit(&x).unwrap();
            let model = Pca::new(1).solver(solver).fit(&weighted).unwrap();
            relatively_close(model.explained_variance()[0], plain.explained_variance()[0], 1e-13);
        }
    }
    // Of streamed rows whose number is not known beforehand.
    let rows = InBlocks { rows: x.clone(), sizes: vec![2], counted: false };
    for count in [5, 7] {
        let data =
            Dataset::streamed(&rows).with_weights(SampleWeights::frequency(vec![1.0; count]));
        let error = failure(&Pca::new(1), &data);
        assert!(matches!(error, Error::Shape { what: "the list of weights", .. }), "{error:?}");
    }
}

#[test]
fn shapes_that_do_not_match() {
    let x = distinct(5, 12, 4);
    let model = Pca::new(2).fit(&x).unwrap();
    let wide = distinct(5, 12, 5);
    let is_shape = |e: Error| assert!(matches!(e, Error::Shape { .. }), "{e:?}");
    is_shape(model.transform(&wide).unwrap_err());
    is_shape(model.transform(x.slice(s![.., ..3])).unwrap_err());
    is_shape(model.transform(Dataset::sparse(&compressed(&wide))).unwrap_err());
    is_shape(model.reconstruct(&wide).unwrap_err());
    is_shape(model.sample_diagnostics(&wide).unwrap_err());
    is_shape(model.verify(&wide).unwrap_err());
    is_shape(model.inverse_transform(wide.view()).unwrap_err());
    is_shape(model.inverse_transform(x.slice(s![.., ..1])).unwrap_err());
    is_shape(model.supplementary_columns(&x, x.slice(s![..11, ..])).unwrap_err());
    is_shape(Dataset::from(&x).with_feature_names(["a", "b", "c"]).map(|_| ()).unwrap_err());
    is_shape(Dataset::from(&x).with_feature_names([""; 5]).map(|_| ()).unwrap_err());
    let mut moments = Moments::of(&x, &Options::default()).unwrap();
    let other = Moments::of(&wide, &Options::default()).unwrap();
    let before = moments.clone();
    is_shape(moments.merge(&other).unwrap_err());
    is_shape(moments.update(&other).unwrap_err());
    is_shape(moments.subtract(&other).unwrap_err());
    assert_eq!(moments, before);
    let more = Moments::of(Dataset::from(&distinct(6, 30, 4)), &Options::default()).unwrap();
    is_shape(moments.subtract(&more).unwrap_err());
    is_shape(Pca::new(1).fit_covariance(x.view(), None).map(|_| ()).unwrap_err());
    is_shape(Pca::new(1).fit_gram(x.view()).map(|_| ()).unwrap_err());
}

#[test]
fn matrices_that_are_no_covariance() {
    let pca = Pca::new(1);
    let fails = |a: Array2<f64>| pca.fit_covariance(a.view(), None).map(|_| ()).unwrap_err();
    assert!(matches!(fails(array![[1.0, 0.5], [0.4, 1.0]]), Error::NotSymmetric { .. }));
    assert!(matches!(fails(array![[1.0, 2.0], [2.0, 1.0]]), Error::NotPositive { .. }));
    assert!(matches!(fails(array![[-1.0, 0.0], [0.0, 1.0]]), Error::NotPositive { .. }));
    assert!(matches!(fails(array![[1.0, f64::NAN], [f64::NAN, 1.0]]), Error::MissingValue { .. }));
    assert!(matches!(
        fails(array![[1.0, f64::INFINITY], [f64::INFINITY, 1.0]]),
        Error::Infinite { .. }
    ));
    assert!(matches!(fails(array![[f64::INFINITY, 0.0], [0.0, 1.0]]), Error::Infinite { .. }));
    assert!(matches!(fails(Array2::zeros((0, 0))), Error::NoRows | Error::NoColumns));
    let error =
        Pca::new(3).fit_covariance(Array2::eye(2).view(), Some(9.0)).map(|_| ()).unwrap_err();
    assert!(matches!(error, Error::TooManyComponents { requested: 3, limit: 2, .. }));
    let rule = Pca::new(NComponents::Rule(Rule::Minka));
    assert!(matches!(
        rule.fit_covariance(Array2::eye(4).view(), None).map(|_| ()).unwrap_err(),
        Error::NotDefined { .. }
    ));
    let fails = |a: Array2<f64>| pca.fit_gram(a.view()).map(|_| ()).unwrap_err();
    assert!(matches!(fails(array![[1.0, 0.5], [0.4, 1.0]]), Error::NotSymmetric { .. }));
    assert!(matches!(fails(array![[1.0]]), Error::TooFewRows { found: 1, .. }));
}

#[test]
fn sparse_matrices_of_bad_structure() {
    type Parts = (usize, usize, Vec<usize>, Vec<u32>, Vec<f64>);
    let bad: [Parts; 11] = [
        (2, 2, vec![0, 1], vec![0], vec![1.0]),
        (2, 2, vec![0, 1, 1, 1], vec![0], vec![1.0]),
        (2, 2, vec![], vec![], vec![]),
        (2, 2, vec![0, 1, 2], vec![0, 1], vec![1.0]),
        (2, 2, vec![0, 1, 2], vec![0], vec![1.0, 2.0]),
        (2, 2, vec![0, 2, 1], vec![0, 1], vec![1.0, 2.0]),
        (2, 2, vec![1, 1, 2], vec![0, 1], vec![1.0, 2.0]),
        (2, 2, vec![0, 1, 1], vec![0, 1], vec![1.0, 2.0]),
        (2, 2, vec![0, 1, 2], vec![0, 2], vec![1.0, 2.0]),
        (2, 2, vec![0, 1, usize::MAX], vec![0, 1], vec![1.0, 2.0]),
        (usize::MAX, 2, vec![0, 1, 2], vec![0, 1], vec![1.0, 2.0]),
    ];
    for (n, d, starts, columns, values) in bad {
        let what = format!("{n} {d} {starts:?} {columns:?}");
        let result = Csr::new(n, d, starts, columns, values);
        assert!(matches!(result, Err(Error::Shape { what: "the sparse matrix", .. })), "{what}");
    }
}

/// A reader that fails, or changes its mind, from some pass on.
struct Unsteady {
    rows: Array2<f64>,
    passes: AtomicUsize,
    /// Passes that are as announced.
    good: usize,
    then: Then,
    counted: bool,
}

#[derive(Clone, Copy, Debug)]
enum Then {
    FailToOpen,
    FailLate,
    LoseARow,
    GainARow,
    LoseAColumn,
    GainAColumn,
    NoRowsAtAll,
    HalfTheRows,
}

struct UnsteadyReader<'a> {
    of: &'a Unsteady,
    rows: Array2<f64>,
    at: usize,
    fail: bool,
}

impl Unsteady {
    fn new(good: usize, then: Then, counted: bool) -> Unsteady {
        Unsteady { rows: distinct(77, 700, 6), passes: AtomicUsize::new(0), good, then, counted }
    }
}

fn broken() -> Error {
    Error::Read(Box::new(std::io::Error::other("the disk is gone")))
}

impl Rows<f64> for Unsteady {
    fn n_features(&self) -> usize {
        self.rows.ncols()
    }

    fn n_samples(&self) -> Option<usize> {
        self.counted.then(|| self.rows.nrows())
    }

    fn open(&self) -> Result<Box<dyn RowReader<f64> + '_>> {
        let pass = self.passes.fetch_add(1, Ordering::SeqCst);
        let x = &self.rows;
        let (n, d) = x.dim();
        let mut fail = false;
        let rows = if pass < self.good {
            x.clone()
        } else {
            match self.then {
                Then::FailToOpen => return Err(broken()),
                Then::FailLate => {
                    fail = true;
                    x.clone()
                }
                Then::LoseARow => x.slice(s![..n - 1, ..]).to_owned(),
                Then::HalfTheRows => x.slice(s![..n / 2, ..]).to_owned(),
                Then::NoRowsAtAll => x.slice(s![..0, ..]).to_owned(),
                Then::GainARow => {
                    ndarray::concatenate(ndarray::Axis(0), &[x.view(), x.slice(s![..1, ..])])
                        .unwrap()
                }
                Then::LoseAColumn => x.slice(s![.., ..d - 1]).to_owned(),
                Then::GainAColumn => {
                    ndarray::concatenate(ndarray::Axis(1), &[x.view(), x.slice(s![.., ..1])])
                        .unwrap()
                }
            }
        };
        Ok(Box::new(UnsteadyReader { of: self, rows, at: 0, fail }))
    }
}

impl RowReader<f64> for UnsteadyReader<'_> {
    fn next_rows(&mut self, at_most: usize) -> Result<Option<ArrayView2<'_, f64>>> {
        if self.fail && self.at > self.of.rows.nrows() / 2 {
            return Err(broken());
        }
        let end = (self.at + at_most.min(64)).min(self.rows.nrows());
        let start = std::mem::replace(&mut self.at, end);
        Ok((start < end).then(|| self.rows.slice(s![start..end, ..])))
    }
}

#[test]
fn readers_that_fail_or_change_their_mind() {
    use Then::*;
    for then in [
        FailToOpen,
        FailLate,
        LoseARow,
        GainARow,
        LoseAColumn,
        GainAColumn,
        NoRowsAtAll,
        HalfTheRows,
    ] {
        for solver in [Solver::Auto, Solver::Covariance, Solver::Svd, Solver::Iterative] {
            for counted in [true, false] {
                for good in [0, 1, 2] {
                    let rows = Unsteady::new(good, then, counted);
                    let result = Pca::new(2).solver(solver).fit_transform(Dataset::streamed(&rows));
                    let opened = rows.passes.load(Ordering::SeqCst);
                    let what =
                        format!("{then:?} after {good} passes of {opened}, {solver:?}, {counted}");
                    if opened <= good {
                        // The route made do with the good passes.
                        assert!(result.is_ok(), "{what}");
                        continue;
                    }
                    // Steady from the first pass on and not announced otherwise: simply other data.
                    let steady =
                        good == 0 && !counted && matches!(then, LoseARow | GainARow | HalfTheRows);
                    match (then, result) {
                        (_, Ok(_)) => assert!(steady, "{what}: a model"),
                        (FailToOpen | FailLate, Err(e)) => {
                            assert!(matches!(e, Error::Read(_)), "{what}: {e:?}");
                            assert!(e.to_string().contains("the disk is gone"));
                            assert!(std::error::Error::source(&e).is_some());
                        }
                        (LoseAColumn | GainAColumn, Err(e)) => {
                            assert!(
                                matches!(e, Error::Shape { .. } | Error::Changed { .. }),
                                "{what}: {e:?}"
                            );
                        }
                        (NoRowsAtAll, Err(e)) => {
                            assert!(
                                matches!(e, Error::NoRows | Error::Changed { .. }),
                                "{what}: {e:?}"
                            );
                        }
                        (_, Err(e)) => assert!(matches!(e, Error::Changed { .. }), "{what}: {e:?}"),
                    }
                }
            }
        }
    }
}

#[test]
fn a_reader_that_lends_empty_blocks_or_too_many_rows() {
    struct Odd(Array2<f64>);
    struct Reader<'a>(&'a Array2<f64>, usize, bool);
    impl Rows<f64> for Odd {
        fn n_features(&self) -> usize {
            self.0.ncols()
        }
        fn n_samples(&self) -> Option<usize> {
            None
        }
        fn open(&self) -> Result<Box<dyn RowReader<f64> + '_>> {
            Ok(Box::new(Reader(&self.0, 0, false)))
        }
    }
    impl RowReader<f64> for Reader<'_> {
        fn next_rows(&mut self, at_most: usize) -> Result<Option<ArrayView2<'_, f64>>> {
            self.2 = !self.2;
            let start = self.1;
            if self.2 {
                return Ok(Some(self.0.slice(s![start..start, ..])));
            }
            let end = (start + at_most.saturating_mul(3)).min(self.0.nrows());
            self.1 = end;
            Ok((start < end).then(|| self.0.slice(s![start..end, ..])))
        }
    }
    let x = distinct(8, 2500, 3);
    let rows = Odd(x.clone());
    for solver in [Solver::Auto, Solver::Covariance, Solver::Svd, Solver::Iterative] {
        let pca = Pca::new(2).solver(solver);
        let odd = pca.fit(Dataset::streamed(&rows)).unwrap();
        assert_eq!(bits(&odd), bits(&pca.fit(&x).unwrap()));
    }
}

#[test]
fn a_budget_too_small_refuses_before_reading() {
    for solver in [Solver::Auto, Solver::Covariance, Solver::Svd, Solver::Iterative] {
        let rows = Unsteady::new(usize::MAX, Then::FailLate, true);
        let pca = |memory| {
            let options = Options { memory: Some(memory), ..Options::default() };
            Pca::new(2).solver(solver).options(options)
        };
        let data = Dataset::streamed(&rows);
        let error = failure(&pca(1000), &data);
        let Error::Memory { needed, budget: 1000, .. } = error else { panic!("{error:?}") };
        assert_eq!(error.kind(), ErrorKind::Memory);
        assert_eq!(error.hint(), hint("memory", &needed.to_string()));
        assert!(matches!(pca(1000).plan(&data), Err(Error::Memory { .. })));
        assert_eq!(rows.passes.load(Ordering::SeqCst), 0, "{solver:?}: opened all the same");
        // The hint is enough, and one byte less is not.
        assert!(pca(needed).fit(&data).is_ok());
        assert!(matches!(pca(needed - 1).fit(&data), Err(Error::Memory { .. })));
    }
    // Other refusals come before the first row too.
    let rows = Unsteady::new(usize::MAX, Then::FailLate, true);
    let data = Dataset::streamed(&rows);
    for pca in [
        Pca::new(0),
        Pca::new(7),
        Pca::new(NComponents::VarianceShare(2.0)),
        Pca::new(2).solver(Solver::Dual),
        Pca::new(2).options(Options { threads: Some(0), ..Options::default() }),
    ] {
        assert!(pca.fit(&data).is_err());
    }
    assert!(Pca::new(2).plan(&data).is_ok());
    assert_eq!(rows.passes.load(Ordering::SeqCst), 0);
}

/// FNV-1a, 64 bit, as the format says.
fn checksum(bytes: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for b in bytes {
        hash = (hash ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3);
    }
    hash
}

fn sealed(mut body: Vec<u8>) -> Vec<u8> {
    body.truncate(body.len() - 8);
    let sum = checksum(&body);
    body.extend_from_slice(&sum.to_le_bytes());
    body
}

#[test]
fn bytes_of_moments() {
    let x = distinct(9, 20, 3);
    let moments = Moments::of(&x, &Options::default()).unwrap();
    let bytes = moments.to_bytes();
    assert_eq!(Moments::from_bytes(&bytes).unwrap(), moments);
    assert_eq!(sealed(bytes.clone()), bytes);
    let fails = |bytes: &[u8]| match Moments::from_bytes(bytes) {
        Err(Error::Bytes { what: "moments", reason }) => reason,
        other => panic!("{other:?}"),
    };
    for length in 0..bytes.len() {
        fails(&bytes[..length]);
    }
    let mut longer = bytes.clone();
    longer.push(0);
    fails(&longer);
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << bit;
            fails(&flipped);
        }
    }
    // Sealed again, so that only the check itself can find it.
    let with = |at: usize, new: &[u8]| {
        let mut changed = bytes.clone();
        changed[at..at + new.len()].copy_from_slice(new);
        fails(&sealed(changed))
    };
    assert!(with(0, b"X").contains("EIGMOM"));
    assert!(with(6, &2u16.to_le_bytes()).contains("do not fit"));
    assert!(with(6, &3u16.to_le_bytes()).contains("version 3"));
    for d in [0, 2, 4, 1 << 32, u64::MAX, u64::MAX / 2, 3_037_000_500] {
        with(8, &d.to_le_bytes());
    }
    for sum in [f64::NAN, f64::INFINITY, -1.0] {
        with(24, &sum.to_le_bytes());
    }
    with(32, &5000i32.to_le_bytes());
    for f in 0..12 {
        with(32 + 3 * 4 + 8 * f, &f64::NAN.to_le_bytes());
    }
    // A negative sum of squares on the diagonal.
    with(32 + 3 * 4 + 8 * 6, &(-1.0f64).to_le_bytes());
}

#[test]
fn bytes_of_moments_with_names() {
    let x = distinct(9, 20, 3);
    let data = Dataset::from(&x).with_feature_names(["a", "größe", ""]).unwrap();
    let moments = Moments::of(&data, &Options::default()).unwrap();
    let bytes = moments.to_bytes();
    assert_eq!(Moments::from_bytes(&bytes).unwrap(), moments);
    let refused =
        |bytes: &[u8]| assert!(matches!(Moments::from_bytes(bytes), Err(Error::Bytes { .. })));
    for length in 0..bytes.len() {
        refused(&bytes[..length]);
        // As if it were whole.
        if length > 8 {
            refused(&sealed(bytes[..length].to_vec()));
        }
    }
    for at in 0..bytes.len() {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1;
        refused(&flipped);
    }
    // Names that are longer than what follows, or no text.
    let names = bytes.len() - 8 - (4 + 1) - (4 + 7) - 4;
    for (at, new) in [(names, 200u8), (names, 0), (names + 3, 255), (names + 4, 255)] {
        let mut changed = bytes.clone();
        changed[at] = new;
        refused(&sealed(changed));
    }
}

#[test]
fn line_47_counts_beyond_32_bits() {
    // Moments of 2⁴⁰ samples, written by hand, keep and add their counts.
    let one = Moments::of(Dataset::from(&array![[0.0], [2.0]]), &Options::default()).unwrap();
    let mut bytes = one.to_bytes();
    bytes[16..24].copy_from_slice(&(1u64 << 40).to_le_bytes());
    bytes[24..32].copy_from_slice(&((1u64 << 40) as f64).to_le_bytes());
    let large = Moments::from_bytes(&sealed(bytes)).unwrap();
    let mut sum = large.clone();
    sum.update(&large).unwrap();
    sum.update(&one).unwrap();
    assert_eq!(sum.n_samples(), (1u64 << 41) as f64 + 2.0);
    let written = sum.to_bytes();
    assert_eq!(written[16..24], ((1u64 << 41) + 2).to_le_bytes());
    // Frequency weights of 2³³ in all.
    let x = array![[1.0, 0.0], [-1.0, 0.5], [0.5, 1.0], [0.0, -1.0]];
    let weights = SampleWeights::frequency([2f64.powi(31); 4]);
    let model = Pca::new(2).fit(Dataset::from(&x).with_weights(weights)).unwrap();
    assert_eq!(model.n_samples(), Some(2f64.powi(33)));
    let (values, _) = oracle(&x, true);
    for (found, v) in model.explained_variance().iter().zip(&values) {
        relatively_close(*found, v * 3.0 * 2f64.powi(31) / (2f64.powi(33) - 1.0), 1e-13);
    }
}

/// Line 47: the same small block lent over and over, without a matrix behind it.
struct Endless {
    block: Array2<f64>,
    blocks: usize,
}

struct EndlessReader<'a> {
    of: &'a Endless,
    left: usize,
}

impl Rows<f64> for Endless {
    fn n_features(&self) -> usize {
        self.block.ncols()
    }

    fn n_samples(&self) -> Option<usize> {
        None
    }

    fn open(&self) -> Result<Box<dyn RowReader<f64> + '_>> {
        Ok(Box::new(EndlessReader { of: self, left: self.blocks }))
    }
}

impl RowReader<f64> for EndlessReader<'_> {
    fn next_rows(&mut self, at_most: usize) -> Result<Option<ArrayView2<'_, f64>>> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        assert!(at_most >= self.of.block.nrows());
        Ok(Some(self.of.block.view()))
    }
}

#[test]
fn line_47_millions_of_rows() {
    // 0, 1, …, 99 over and over: mean 49.5, Σ(x − mean)² = 100 (100² − 1)/12 for each block.
    let block = Array2::from_shape_fn((100, 1), |(i, _)| i as f64);
    let rows = Endless { block, blocks: 40_000 };
    let n = 4_000_000.0;
    let expected = n * 9999.0 / 12.0 / (n - 1.0);
    for solver in [Solver::Auto, Solver::Covariance, Solver::Svd, Solver::Iterative] {
        let pca = Pca::new(1).solver(solver);
        let model = pca.fit(Dataset::streamed(&rows)).unwrap();
        assert_eq!(model.n_samples(), Some(n));
        assert_eq!(model.mean(), [49.5]);
        relatively_close(model.explained_variance()[0], expected, 1e-13);
    }
    let model = Pca::new(1).fit(Dataset::streamed(&rows)).unwrap();
    let mut seen = 0;
    let mut sum = 0.0;
    let mut sink = |z: ArrayView2<f64>| {
        seen += z.nrows();
        sum += z.sum();
        Ok(())
    };
    assert_eq!(model.transform_blocks(Dataset::streamed(&rows), &mut sink).unwrap(), 4_000_000);
    assert_eq!(seen, 4_000_000);
    assert_eq!(sum, 0.0);
}
