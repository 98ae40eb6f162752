//! A fit that was cancelled ends with an error, in the middle of whatever it does.

use crate::estimators::{classes, estimator};
use crate::support::Random;
use eigenlens::{
    AnyDataset, Cancel, Dataset, Error, FitContext, METHODS, Method, Missing, NComponents, Options,
    Result, RowReader, Rows,
};
use ndarray::{Array2, ArrayView2, s};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Rows that cancel the fit when they are read for the n-th time.
struct CancelledBy<'a> {
    rows: &'a Array2<f64>,
    readings: AtomicUsize,
    last: usize,
    cancel: Cancel,
}

struct Reader<'a>(ArrayView2<'a, f64>);

impl Rows<f64> for CancelledBy<'_> {
    fn n_features(&self) -> usize {
        self.rows.ncols()
    }

    fn n_samples(&self) -> Option<usize> {
        Some(self.rows.nrows())
    }

    fn open(&self) -> Result<Box<dyn RowReader<f64> + '_>> {
        if self.readings.fetch_add(1, Ordering::SeqCst) + 1 == self.last {
            self.cancel.cancel();
        }
        Ok(Box::new(Reader(self.rows.view())))
    }
}

impl RowReader<f64> for Reader<'_> {
    fn next_rows(&mut self, at_most: usize) -> Result<Option<ArrayView2<'_, f64>>> {
        let (lent, rest) = self.0.split_at(ndarray::Axis(0), at_most.min(self.0.nrows()));
        self.0 = rest;
        Ok((lent.nrows() > 0).then_some(lent))
    }
}

/// Fits rows that cancel the fit in their n-th reading; how it ended, and the readings there were.
fn fit(method: &'static Method, x: &Array2<f64>, last: usize) -> (Result<()>, usize) {
    let cancel = Cancel::new();
    let rows = CancelledBy { rows: x, readings: AtomicUsize::new(0), last, cancel: cancel.clone() };
    let data = AnyDataset::from(Dataset::streamed(&rows));
    let shape = data.shape();
    let method = estimator(method, &NComponents::Fixed(2), &Options::default(), &shape).unwrap();
    let target = classes(x.column(0));
    let context = FitContext::new().with_target(Some(&target)).with_cancel(&cancel);
    let ended = method.fit(&data, &mut context.with_scores(true)).map(|_| ());
    (ended, rows.readings.load(Ordering::SeqCst))
}

#[test]
fn every_method_ends_in_the_reading_in_which_it_is_cancelled() {
    let x = Random::new(5).ordinary(90, 7);
    for method in METHODS {
        let (whole, readings) = fit(method, &x, usize::MAX);
        whole.unwrap_or_else(|e| panic!("{}: {e}", method.name));
        assert!(readings > 0);
        for last in 1..=readings.min(12) {
            let (ended, read) = fit(method, &x, last);
            let what = format!("{} in reading {last} of {readings}", method.name);
            assert!(matches!(ended, Err(Error::Cancelled)), "{what}: {ended:?}");
            assert_eq!(read, last, "{what}");
        }
    }
}

#[test]
fn what_was_cancelled_before_does_not_begin() {
    let x = Random::new(6).ordinary(60, 5);
    let cancel = Cancel::new();
    cancel.cancel();
    for method in METHODS {
        let data = AnyDataset::from(Dataset::from(&x));
        let target = classes(x.column(0));
        let mut context = FitContext::new().with_target(Some(&target)).with_cancel(&cancel);
        let ended = method.values().fit(&data, &mut context).map(|_| ());
        assert!(matches!(ended, Err(Error::Cancelled)), "{}: {ended:?}", method.name);
    }
}

/// An observer that is told of every step may cancel too: no model comes back then.
#[test]
fn an_iteration_ends_at_its_next_step() {
    let mut x = Random::new(7).ordinary(80, 6);
    x.slice_mut(s![3..40, 2]).fill(f64::NAN);
    let method = Method::named("ppca").unwrap();
    let options = Options { max_iterations: 500, ..Options::default() };
    let mut values = method.values().with_options(options);
    values.set_n_components(2);
    let (cancel, mut steps) = (Cancel::new(), 0);
    let mut observer = |_: &eigenlens::Progress| {
        steps += 1;
        if steps == 3 {
            cancel.cancel();
        }
        ControlFlow::Continue(())
    };
    let data = AnyDataset::from(Dataset::from(&x).with_missing(Missing::Em));
    let mut context = FitContext::new().with_observer(&mut observer).with_cancel(&cancel);
    let ended = values.fit(&data, &mut context).map(|_| ());
    assert!(matches!(ended, Err(Error::Cancelled)), "{ended:?}");
    assert_eq!(steps, 3);
}
