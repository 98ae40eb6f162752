//! What every method can do, behind one face: plan, fit, and say what it is.

use super::implied_kernel::ImpliedKernel;
use super::option_spec::{OptionSpec, OptionValues};
use crate::data::{AnyArray, AnyDataset, DataShape, Missing, MissingReport, Target, TermWeighting};
use crate::em::{Observer, Progress};
use crate::error::{Error, Result};
use crate::linalg::cancel::{self, Cancel};
use crate::model::Model;
use crate::model::parts::Parts;
use crate::n_components::NComponents;
use crate::passes::{Moments, Preprocessing};
use crate::plan::Plan;
use crate::scalar::Scalar;
use ndarray::Array2;
use std::fmt::Debug;
use std::ops::ControlFlow;

/// A method with its options, ready for data.
///
/// Programs that serve every method hold a `Box<dyn Estimator>`; whoever knows the method uses its own type,
/// which has more to offer ([`Pca::fit_moments`](crate::Pca::fit_moments), for instance).
///
/// ```
/// use eigenlens::{AnyDataset, Dataset, Estimator, FitContext, Pca};
/// let x = ndarray::array![[2.5, 2.4], [0.5, 0.7], [2.2, 2.9], [1.9, 2.2], [3.1, 3.0]];
/// let estimator: Box<dyn Estimator> = Box::new(Pca::new(1));
/// let data = AnyDataset::from(Dataset::from(&x));
/// println!("{}", estimator.plan(&data.shape(), None)?);
/// let fitted = estimator.fit(&data, &mut FitContext::new().with_scores(true))?;
/// assert_eq!(fitted.model.n_components(), 1);
/// assert_eq!(fitted.scores.map(|scores| scores.dim()), Some((5, 1)));
/// # Ok::<(), eigenlens::Error>(())
/// ```
pub trait Estimator: Debug + Send + Sync {
    /// The method's row in [`METHODS`](crate::METHODS).
    fn method(&self) -> &'static Method;

    /// What would be done, without reading a row.
    fn plan(&self, shape: &DataShape, target: Option<&Target>) -> Result<Plan>;

    /// Fits the model, with the scores of the samples where they are wanted.
    fn fit(&self, data: &AnyDataset, context: &mut FitContext) -> Result<Fitted>;

    /// Fits the model from count, mean and scatter, where these are all that the method needs.
    fn fit_moments(&self, _: &Moments) -> Result<Fitted> {
        let why = format!("the method `{}` needs the samples", self.method().name);
        Err(Error::NotDefined { what: "a fit from moments", why })
    }

    /// The kernel that an embedding of these data is the kernel PCA of, and what it is made of.
    fn implied_kernel(&self, _: &AnyDataset) -> Result<ImpliedKernel> {
        let why = format!("the method `{}` is no embedding", self.method().name);
        Err(Error::NotDefined { what: "an implied kernel", why })
    }

    /// How counts of terms are to be weighted before they are fitted.
    fn term_weighting(&self) -> Option<TermWeighting> {
        None
    }
}

/// [`Estimator`] for a type with `plan`, `fit` and `fit_transform`: those of its own, with data of any
/// element type and the context of the fit.
macro_rules! estimator {
    ($method:ty $(, { $($more:item)* })?) => {
        impl Estimator for $method {
            estimator!(@plan);

            fn fit(&self, data: &AnyDataset, context: &mut FitContext) -> Result<Fitted> {
                context.cancel().scope(|| dispatch!(data, d => match context.wants_scores() {
                    true => self.fit_transform(d).map(Fitted::with_scores),
                    false => self.fit(d).map(Fitted::without_scores),
                }))
            }

            $($($more)*)?
        }
    };
    // An observer is told of the steps where these data are iterated on.
    ($method:ty, iterates: |$this:pat_param, $missing:pat_param| $iterates:expr
     $(, { $($more:item)* })?) => {
        impl Estimator for $method {
            estimator!(@plan);

            fn fit(&self, data: &AnyDataset, context: &mut FitContext) -> Result<Fitted> {
                let want_scores = context.wants_scores();
                let ($this, $missing) = (self, data.missing());
                let iterates = $iterates;
                context.cancel().scope(|| dispatch!(data, d => match want_scores {
                    _ if iterates => {
                        let model = self.fit_observed(d, &mut |step| context.observe(step))?;
                        let scores = want_scores.then(|| model.transform(d)).transpose()?;
                        Ok(Fitted::new(model, scores))
                    }
                    true => self.fit_transform(d).map(Fitted::with_scores),
                    false => self.fit(d).map(Fitted::without_scores),
                }))
            }

            $($($more)*)?
        }
    };
    ($method:ty, supervised) => {
        impl Estimator for $method {
            fn method(&self) -> &'static Method {
                &METHOD
            }

            fn plan(&self, shape: &DataShape, target: Option<&Target>) -> Result<Plan> {
                self.plan(shape, need_target(target)?)
            }

            fn fit(&self, data: &AnyDataset, context: &mut FitContext) -> Result<Fitted> {
                let target = context.target()?;
                context.cancel().scope(|| dispatch!(data, d => match context.wants_scores() {
                    true => self.fit_transform(d, target).map(Fitted::with_scores),
                    false => self.fit(d, target).map(Fitted::without_scores),
                }))
            }
        }
    };
    (@plan) => {
        fn method(&self) -> &'static Method {
            &METHOD
        }

        fn plan(&self, shape: &DataShape, _: Option<&Target>) -> Result<Plan> {
            self.plan(shape)
        }
    };
}
pub(super) use estimator;

/// What surrounds a fit.
#[derive(Default)]
pub struct FitContext<'a> {
    target: Option<&'a Target>,
    observer: Option<&'a mut Observer<'a>>,
    cancel: Option<&'a Cancel>,
    want_scores: bool,
    n_samples: Option<usize>,
}

impl<'a> FitContext<'a> {
    /// No target, no scores, nobody told.
    pub fn new() -> FitContext<'a> {
        FitContext::default()
    }

    /// What supervised methods look at.
    pub fn with_target(self, target: Option<&'a Target>) -> Self {
        FitContext { target, ..self }
    }

    /// Who is told of every step of an iteration, and may end it.
    pub fn with_observer(
        self,
        observer: &'a mut (dyn FnMut(&Progress) -> ControlFlow<()> + Send + 'a),
    ) -> Self {
        FitContext { observer: Some(observer), ..self }
    }

    /// What ends the fit from another thread.
    pub fn with_cancel(self, cancel: &'a Cancel) -> Self {
        FitContext { cancel: Some(cancel), ..self }
    }

    /// Whether the scores of the training samples are wanted.
    pub fn with_scores(self, want_scores: bool) -> Self {
        FitContext { want_scores, ..self }
    }

    /// How many samples there are, where a stream does not tell: defaults may look at it.
    pub fn with_n_samples(self, n_samples: Option<usize>) -> Self {
        FitContext { n_samples, ..self }
    }

    /// The token of the fit: its own, else that of the work it is a part of.
    pub(super) fn cancel(&self) -> Cancel {
        self.cancel.cloned().unwrap_or_else(cancel::current)
    }

    pub(super) fn wants_scores(&self) -> bool {
        self.want_scores
    }

    pub(super) fn target(&self) -> Result<&'a Target> {
        self.target.ok_or_else(target_is_missing)
    }

    /// Tells the observer, where there is one.
    pub(super) fn observe(&mut self, step: &Progress) -> ControlFlow<()> {
        match &mut self.observer {
            Some(observer) => observer(step),
            None => ControlFlow::Continue(()),
        }
    }
}

/// The target of a plan.
pub(super) fn need_target(target: Option<&Target>) -> Result<&Target> {
    target.ok_or_else(target_is_missing)
}

fn target_is_missing() -> Error {
    Error::NotDefined { what: "a supervised method", why: "no target was given".into() }
}

/// A model, and the training scores where they were wanted.
#[derive(Debug)]
pub struct Fitted {
    /// The model.
    pub model: Box<dyn Model>,
    /// Scores (n × k) of the training samples, in the type of the data.
    pub scores: Option<AnyArray>,
    /// What was done to the data before the method saw them: belongs to the model.
    pub preprocessing: Preprocessing,
    /// What was done about missing entries, by that step or by the method.
    pub missing: Option<MissingReport>,
    /// What the method saw.
    pub shape: DataShape,
}

impl Fitted {
    pub(super) fn new<T: Scalar>(model: impl Model + 'static, scores: Option<Array2<T>>) -> Fitted {
        Fitted {
            missing: model.missing().cloned(),
            shape: DataShape::dense(0, model.n_features()),
            model: Box::new(model),
            scores: scores.map(AnyArray::from),
            preprocessing: Preprocessing::default(),
        }
    }

    pub(super) fn with_scores<T: Scalar>(
        (model, scores): (impl Model + 'static, Array2<T>),
    ) -> Fitted {
        Fitted::new(model, Some(scores))
    }

    pub(super) fn without_scores(model: impl Model + 'static) -> Fitted {
        Fitted::new::<f64>(model, None)
    }
}

impl OptionValues {
    /// Fits the method with these options to data as they are read: what it wants done to them first is done
    /// here, and comes back with the model.
    pub fn fit(&self, data: &AnyDataset, context: &mut FitContext) -> Result<Fitted> {
        context.cancel().scope(|| self.fit_prepared(data, context))
    }

    fn fit_prepared(&self, data: &AnyDataset, context: &mut FitContext) -> Result<Fitted> {
        let method = self.method();
        if !self.rows_are_samples() && data.missing() != Missing::Error {
            return Err(Error::Unsupported {
                what: format!("the policy `{}` for missing values", data.missing().name()),
                why: "is for samples, and a covariance matrix has none",
                instead: None,
            });
        }
        let shaped = |data: &AnyDataset| {
            let shape = data.shape();
            DataShape { n_samples: shape.n_samples.or(context.n_samples), ..shape }
        };
        let weighting = method.build(self, &shaped(data))?.term_weighting();
        let resolves = !method.takes_missing;
        let (preprocessing, prepared) =
            Preprocessing::learn(weighting, resolves, data, self.options())?;
        let target = context.target.map(|target| prepared.target(target)).transpose()?;
        let data = prepared.data();
        let shape = shaped(&data);
        let want_scores = context.want_scores;
        let mut observe = |step: &Progress| context.observe(step);
        let mut inner = FitContext::new()
            .with_target(target.as_ref())
            .with_observer(&mut observe)
            .with_scores(want_scores);
        let fitted = method.build(self, &shape).and_then(|e| e.fit(&data, &mut inner));
        let fitted = fitted.map_err(|e| prepared.in_original_rows(e))?;
        let missing = prepared.missing_report().cloned().or(fitted.missing);
        Ok(Fitted { preprocessing, missing, shape, ..fitted })
    }
}

/// What every surface knows of a method: a row of [`METHODS`](crate::METHODS).
pub struct Method {
    /// Its name on every surface and in model files.
    pub name: &'static str,
    /// What it is for, in a few words.
    pub about: &'static str,
    /// What its components are called in tables and pictures, before their number.
    pub axis: &'static str,
    /// Whether its scores are linear in the features: only then are there components to write.
    pub linear: bool,
    /// Whether it carries out the policy for missing values by itself.
    pub takes_missing: bool,
    /// How many components where nothing is said.
    pub default_n_components: fn(&DataShape) -> NComponents,
    /// Whether it is fitted to a target.
    pub supervised: bool,
    /// What may be asked of it, in groups.
    pub(super) options: &'static [&'static [OptionSpec]],
    /// The method with such options.
    pub(super) build: fn(&OptionValues, &DataShape) -> Result<Box<dyn Estimator>>,
    /// Puts a model together from its parts, which may come from anywhere: everything is checked first.
    pub load: fn(&Parts) -> Result<Box<dyn Model>>,
}

/// Two components, as far as there are two: embeddings are made to be looked at.
pub(super) fn for_a_picture(shape: &DataShape) -> NComponents {
    NComponents::Fixed(2.min(shape.n_samples.map_or(2, |n| n.saturating_sub(1))).max(1))
}

/// `k`, as far as there are so many samples and features.
pub(super) fn at_most(k: usize, shape: &DataShape, features: usize) -> NComponents {
    NComponents::Fixed(k.min(features).min(shape.n_samples.unwrap_or(features)).max(1))
}
