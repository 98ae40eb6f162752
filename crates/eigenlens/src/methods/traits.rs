//! What code for any method is written against, named as in linfa: `Fit` and `Transformer`.

use crate::data::{Data, Dataset, Made, Target};
use crate::error::Result;
use crate::model::Model;
use crate::scalar::Scalar;
use ndarray::Array2;

/// A method that is fitted to data and gives its own type of model. Every method is one; where it is chosen
/// at run time, [`Estimator`](crate::Estimator) is the same behind a box.
///
/// ```
/// use eigenlens::{Fit, Isomap, Pca, Result, SupervisedPca, Target, Transformer, ndarray};
/// use ndarray::{Array2, array, s};
///
/// /// Scores of the samples from row `n` on, which the fit does not see.
/// fn held_out_scores(method: &impl Fit, x: &Array2<f64>, n: usize) -> Result<Array2<f64>> {
///     let model = method.fit(x.slice(s![..n, ..]))?;
///     model.transform(x.slice(s![n.., ..]))
/// }
///
/// let x = array![[2.5, 2.4], [0.5, 0.7], [2.2, 2.9], [1.9, 2.2], [3.1, 3.0], [2.3, 2.7]];
/// let target = Target::column(&[1.0, 0.0, 1.2, 0.9, 1.5]);
/// assert_eq!(held_out_scores(&Pca::new(1), &x, 5)?.dim(), (1, 1));
/// assert_eq!(held_out_scores(&Isomap::new(1).neighbors(2), &x, 5)?.dim(), (1, 1));
/// assert_eq!(held_out_scores(&SupervisedPca::new(1).with_target(&target), &x, 5)?.dim(), (1, 1));
/// # Ok::<(), eigenlens::Error>(())
/// ```
pub trait Fit {
    /// The model: it describes itself and is a [`Transformer`].
    type Object: Model;

    /// Fits the model.
    fn fit<'a, T: Scalar>(&self, data: impl Into<Dataset<'a, T>>) -> Result<Self::Object>;

    /// Fits the model and returns the scores of the training samples (n × k).
    fn fit_transform<'a, T: Scalar>(
        &self,
        data: impl Into<Dataset<'a, T>>,
    ) -> Result<(Self::Object, Array2<T>)>;
}

/// A model that gives samples their scores. Every [`Model`] is one, a `Box<dyn Model>` too.
///
/// ```
/// use eigenlens::{Model, Pca, Transformer, ndarray};
/// let x = ndarray::array![[2.5, 2.4], [0.5, 0.7], [2.2, 2.9], [1.9, 2.2], [3.1, 3.0]];
/// let model: Box<dyn Model> = Box::new(Pca::new(1).fit(&x)?);
/// assert_eq!(model.transform(&x)?.dim(), (5, 1));
/// # Ok::<(), eigenlens::Error>(())
/// ```
pub trait Transformer {
    /// Scores (n × k) of training or new samples.
    fn transform<'a, T: Scalar>(&self, data: impl Into<Dataset<'a, T>>) -> Result<Array2<T>>;
}

impl<M: Model + ?Sized> Transformer for M {
    fn transform<'a, T: Scalar>(&self, data: impl Into<Dataset<'a, T>>) -> Result<Array2<T>> {
        T::choose::<Data, Made>(
            &data.into(),
            |data| self.transform_f32(data),
            |data| self.transform_f64(data),
        )
    }
}

/// A supervised method and what it looks at beside the data, made by its `with_target`.
#[derive(Clone, Debug)]
pub struct WithTarget<'t, M> {
    pub(super) method: M,
    pub(super) target: &'t Target,
}

/// [`Fit`] by the methods of the same names that a type has: `fit_trait!(Pca => PcaModel);`.
macro_rules! fit_trait {
    ($method:ty => $model:ty) => {
        impl $crate::Fit for $method {
            type Object = $model;

            fn fit<'a, T: Scalar>(&self, data: impl Into<Dataset<'a, T>>) -> Result<$model> {
                <$method>::fit(self, data)
            }

            fn fit_transform<'a, T: Scalar>(
                &self,
                data: impl Into<Dataset<'a, T>>,
            ) -> Result<($model, Array2<T>)> {
                <$method>::fit_transform(self, data)
            }
        }
    };
    ($method:ty => $model:ty, supervised) => {
        impl $method {
            /// The method with its target, for code that takes any [`Fit`](crate::Fit).
            pub fn with_target(self, target: &Target) -> $crate::WithTarget<'_, $method> {
                $crate::WithTarget { method: self, target }
            }
        }

        impl $crate::Fit for $crate::WithTarget<'_, $method> {
            type Object = $model;

            fn fit<'a, T: Scalar>(&self, data: impl Into<Dataset<'a, T>>) -> Result<$model> {
                self.method.fit(data, self.target)
            }

            fn fit_transform<'a, T: Scalar>(
                &self,
                data: impl Into<Dataset<'a, T>>,
            ) -> Result<($model, Array2<T>)> {
                self.method.fit_transform(data, self.target)
            }
        }
    };
}
pub(super) use fit_trait;
