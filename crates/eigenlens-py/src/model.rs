//! Fitted models.

use crate::data::{DataArgs, to_array};
use crate::target::TargetArg;
use crate::{errors, records};
use eigenlens::from_parts;
use eigenlens::model::diagnostics::DiagnosticTable;
use eigenlens::model::rotation::VarimaxOptions;
use eigenlens::model::{Classifier, Density, Imputed, LatentGaussian};
use eigenlens::ndarray::Array3;
use eigenlens::{AnyDataset, VerifyOptions, dispatch, verify_model};
use eigenlens::{Certificate, Error, Options, PcaModel, Preprocessing, Warning};
use eigenlens_io::write::Output;
use eigenlens_io::{AnyArray, Origin, OriginColumn, StoredModel};
use numpy::{PyArray1, PyArray2, PyArray3, PyReadonlyArray2, ToPyArray};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The names of the columns of a table, and the table.
type Named<'py> = (Vec<String>, Bound<'py, PyArray2<f64>>);

fn named(py: Python<'_>, table: DiagnosticTable) -> Named<'_> {
    (table.names, table.values.to_pyarray(py))
}

/// A fitted model: immutable and complete.
#[pyclass(frozen, module = "eigenlens._core")]
pub struct Model(StoredModel);

impl Model {
    pub fn new(model: Box<dyn eigenlens::Model>, preprocessing: Preprocessing) -> Model {
        let program = concat!("eigenlens-python ", env!("CARGO_PKG_VERSION")).into();
        // Names are what other programs find the columns by; without any, the readers' own.
        let name = |f: usize| match model.feature_names().and_then(|names| names.get(f)) {
            Some(name) => name.clone(),
            None => format!("x{}", f + 1),
        };
        let column = |f| OriginColumn { name: name(f), kind: "float".into() };
        let columns = (0..model.n_features()).map(column).collect();
        let origin = Origin { program, columns, ..Origin::default() };
        Model(StoredModel { model, preprocessing, origin })
    }

    pub fn stored(&self) -> &StoredModel {
        &self.0
    }

    pub fn model(&self) -> &dyn eigenlens::Model {
        self.0.model.as_ref()
    }

    /// What only some models have.
    fn has<C>(&self, found: Option<C>, what: &'static str) -> PyResult<C> {
        found.ok_or_else(|| {
            let why = format!("the method `{}` has none", self.model().method());
            errors::library(Error::NotDefined { what, why })
        })
    }

    fn pca(&self) -> PyResult<&PcaModel> {
        self.has(self.model().pca(), "what only a PCA has")
    }

    fn density(&self) -> PyResult<&dyn Density> {
        self.has(self.model().density(), "a density")
    }

    fn classifier(&self) -> PyResult<&dyn Classifier> {
        self.has(self.model().classifier(), "classes")
    }

    fn latent(&self) -> PyResult<&dyn LatentGaussian> {
        self.has(self.model().latent(), "hidden variables")
    }
}

/// Rows and columns of numbers.
type Matrix<'py> = Bound<'py, PyArray2<f64>>;

/// One number for each sample.
type PerSample<'py> = Bound<'py, PyArray1<f64>>;

/// What every model has.
#[pymethods]
impl Model {
    /// The method that made the model.
    #[getter]
    fn method(&self) -> &'static str {
        self.model().method()
    }

    #[getter]
    fn n_components(&self) -> usize {
        self.model().n_components()
    }

    #[getter]
    fn n_features(&self) -> usize {
        self.model().n_features()
    }

    /// The number of training samples or the sum of their weights, where known.
    #[getter]
    fn n_samples(&self) -> Option<f64> {
        self.model().n_samples()
    }

    #[getter]
    fn feature_names(&self) -> Option<Vec<String>> {
        self.model().feature_names().map(<[String]>::to_vec)
    }

    /// The certificate as a dictionary, where there is one.
    #[getter]
    fn certificate<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        self.model().certificate().map(|found| records::certificate(py, found)).transpose()
    }

    /// The same of components and variances that are rounded to float32.
    #[getter]
    fn certificate_of_single<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let model = self.model();
        let values = model.pca().map_or(Vec::new(), |pca| pca.explained_variance().to_vec());
        let rounded = |found: &Certificate| match model.linear() {
            Some(linear) => found.of_single(&values, linear.components),
            None => found.clone(),
        };
        model.certificate().map(|found| records::certificate(py, &rounded(found))).transpose()
    }

    /// The plan that was followed, as a dictionary.
    #[getter]
    fn plan<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        records::plan(py, self.model().plan())
    }

    /// What the user should know: whether it is about the certificate, and the words.
    #[getter]
    fn warnings(&self) -> Vec<(bool, String)> {
        let uncertified = |w: &Warning| matches!(w, Warning::NotCertified { .. });
        self.model().warnings().iter().map(|w| (uncertified(w), w.to_string())).collect()
    }

    /// Everything that describes the model, by the names of the vocabulary.
    #[getter]
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for (name, found) in &self.model().summary().values {
            all.set_item(name, records::value(py, found)?)?;
        }
        Ok(all)
    }

    /// The axis of each component: its name, its share of a total where there is one, and of which.
    #[getter]
    fn axes(&self) -> Vec<(String, Option<(f64, &'static str)>)> {
        let axes = self.model().axes().into_iter();
        axes.map(|axis| (axis.name, axis.share.map(|share| (share.value, share.of)))).collect()
    }

    /// The model for a page.
    #[getter]
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        records::summary(py, &self.model().summary())
    }

    /// Scores of training or new samples.
    #[pyo3(signature = (data, memory=None))]
    fn transform<'py>(
        &self,
        py: Python<'py>,
        data: DataArgs<'py>,
        memory: Option<u64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let taken = data.take()?;
        let model = self.model();
        let options = Options { memory, ..Options::default() };
        let steps = &self.0.preprocessing;
        let scores = taken.run(py, memory, |data| match steps.apply(data, &options)?.data() {
            AnyDataset::F32(data) => model.transform_f32(&data).map(AnyArray::F32),
            AnyDataset::F64(data) => model.transform_f64(&data).map(AnyArray::F64),
        })?;
        Ok(to_array(py, scores))
    }

    /// Checks all that the model says against the data it was made from, and their target, by independent code.
    #[pyo3(signature = (data, target, seed, tolerance))]
    fn verify<'py>(
        &self,
        py: Python<'py>,
        data: DataArgs<'py>,
        target: Option<TargetArg<'py>>,
        seed: u64,
        tolerance: f64,
    ) -> PyResult<Bound<'py, PyDict>> {
        let taken = data.take()?;
        let target = target.map(|target| target.target()).transpose()?;
        let options = VerifyOptions { seed, tolerance, memory: None };
        let (model, steps) = (self.model(), &self.0.preprocessing);
        let found = taken
            .run(py, None, |data| verify_model(model, steps, data, target.as_ref(), &options))?;
        records::verification(py, &found)
    }

    /// The components (k × d), where scores are linear in the features.
    #[getter]
    fn components<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray2<f64>>> {
        self.model().linear().map(|linear| linear.components.to_pyarray(py))
    }

    /// The mean of every feature, where scores are linear in them.
    #[getter]
    fn mean<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        self.model().linear().map(|linear| linear.mean.to_pyarray(py))
    }

    /// d × k, where scores are linear in the features.
    #[getter]
    fn loadings<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray2<f64>>> {
        self.model().linear().map(|linear| linear.loadings.to_pyarray(py))
    }

    #[getter]
    fn explained_variance<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(self.pca()?.explained_variance().to_pyarray(py))
    }

    #[getter]
    fn explained_variance_ratio<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(self.pca()?.explained_variance_ratio().to_pyarray(py))
    }

    #[getter]
    fn singular_values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(self.pca()?.singular_values().to_pyarray(py))
    }

    /// What every feature was divided by, where standardised.
    #[getter]
    fn scale<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray1<f64>>>> {
        Ok(self.pca()?.scale().map(|scale| scale.to_pyarray(py)))
    }

    /// Whether scores have variance 1.
    #[getter]
    fn whitens(&self) -> PyResult<bool> {
        Ok(self.pca()?.whitens())
    }

    #[getter]
    fn total_variance(&self) -> PyResult<f64> {
        Ok(self.pca()?.total_variance())
    }

    /// All variances, where the route computed them.
    #[getter]
    fn full_spectrum<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray1<f64>>>> {
        Ok(self.pca()?.full_spectrum().map(|all| all.to_pyarray(py)))
    }

    /// The standard error of each variance, where the number of samples is known.
    #[getter]
    fn sampling_errors<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray1<f64>>>> {
        Ok(self.pca()?.sampling_errors().map(|all| all.to_pyarray(py)))
    }

    /// Samples from scores (n × k).
    fn inverse_transform<'py>(
        &self,
        py: Python<'py>,
        scores: Scores<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let model = self.model();
        let samples = match &scores {
            Scores::F64(z) => {
                let z = z.as_array();
                py.detach(|| model.inverse_transform_f64(z)).map(AnyArray::F64)
            }
            Scores::F32(z) => {
                let z = z.as_array();
                py.detach(|| model.inverse_transform_f32(z)).map(AnyArray::F32)
            }
        };
        Ok(to_array(py, samples.map_err(errors::library)?))
    }

    /// Hotelling's T² and Q = ‖r‖² of every sample.
    fn distances<'py>(
        &self,
        py: Python<'py>,
        data: DataArgs<'py>,
    ) -> PyResult<(PerSample<'py>, PerSample<'py>)> {
        let taken = data.take()?;
        let pca = self.pca()?;
        let found =
            taken.run(py, None, |data| dispatch!(data, data => pca.sample_diagnostics(data)))?;
        Ok((found.t_squared.to_pyarray(py), found.q.to_pyarray(py)))
    }

    /// T², Q, leverage, squared cosines and contributions of every sample: names of columns, and the table.
    fn sample_diagnostics<'py>(
        &self,
        py: Python<'py>,
        data: DataArgs<'py>,
    ) -> PyResult<Named<'py>> {
        let taken = data.take()?;
        let pca = self.pca()?;
        let names = self.model().component_names();
        let found =
            taken.run(py, None, |data| dispatch!(data, data => pca.sample_diagnostics(data)))?;
        Ok(named(py, found.table(&names)))
    }

    /// What every feature adds to T² and Q of every sample.
    fn feature_contributions<'py>(
        &self,
        py: Python<'py>,
        data: DataArgs<'py>,
        feature_names: Vec<String>,
    ) -> PyResult<Named<'py>> {
        let taken = data.take()?;
        let pca = self.pca()?;
        let found =
            taken.run(py, None, |data| dispatch!(data, data => pca.feature_contributions(data)))?;
        Ok(named(py, found.table(&feature_names)))
    }

    /// Communality, loadings, correlations, squared cosines and contributions of every feature.
    fn feature_diagnostics<'py>(&self, py: Python<'py>) -> PyResult<Named<'py>> {
        let found = self.pca()?.feature_diagnostics().map_err(errors::library)?;
        Ok(named(py, found.table(&self.model().component_names())))
    }

    /// The table with its missing entries filled, and each missing entry: row, column, value, standard error.
    #[allow(clippy::type_complexity)] // a tuple of what Python unpacks
    fn impute<'py>(
        &self,
        py: Python<'py>,
        data: DataArgs<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, Vec<(usize, usize, f64, f64)>)> {
        let taken = data.take()?;
        let density = self.density()?;
        let Imputed { tables, entries } = taken.run(py, None, |data| density.impute(data, 0, 0))?;
        let table = tables.into_iter().next();
        let table = table.ok_or_else(|| PyRuntimeError::new_err("no table was filled"))?;
        let entries = entries.iter().map(|e| (e.row, e.column, e.value, e.standard_error));
        Ok((to_array(py, table), entries.collect()))
    }

    /// The log-likelihood of what is observed of each sample.
    fn log_likelihood<'py>(
        &self,
        py: Python<'py>,
        data: DataArgs<'py>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let taken = data.take()?;
        let density = self.density()?;
        let found = taken.run(py, None, |data| density.score_samples(data))?;
        Ok(found.column(0).to_pyarray(py))
    }

    /// The log-likelihood of each sample under the Gaussian of PCA with this noise variance, which is also
    /// that along all but the `leading` components.
    fn gaussian_log_likelihood<'py>(
        &self,
        py: Python<'py>,
        data: DataArgs<'py>,
        noise_variance: f64,
        leading: usize,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let taken = data.take()?;
        let pca = self.pca()?;
        let found = taken.run(
            py,
            None,
            |data| dispatch!(data, data => pca.log_likelihood_with_noise(data, noise_variance, leading)),
        )?;
        Ok(found.samples.to_pyarray(py))
    }

    /// The variances of that Gaussian along the components and beside them; 0 where they are no
    /// more than the rounding `epsilon` of the data.
    fn variances_above_rounding<'py>(
        &self,
        py: Python<'py>,
        noise_variance: f64,
        epsilon: f64,
    ) -> PyResult<(Bound<'py, PyArray1<f64>>, f64)> {
        let (values, noise) = self.pca()?.variances_above_rounding(noise_variance, epsilon);
        Ok((values.to_pyarray(py), noise))
    }

    /// Samples drawn from the density (n × d), and the class that each comes from, where it has several.
    #[allow(clippy::type_complexity)] // a tuple of what Python unpacks
    fn sample<'py>(
        &self,
        py: Python<'py>,
        n: usize,
        seed: u64,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, Option<Vec<usize>>)> {
        let drawn = self.density()?.sample(n, seed);
        Ok((drawn.rows.to_pyarray(py), drawn.classes))
    }

    /// Scores (n × k) with their standard errors and, where a prior does not say it, the share of certainty left.
    #[allow(clippy::type_complexity)] // a tuple of what Python unpacks
    fn scores_with_errors<'py>(
        &self,
        py: Python<'py>,
        data: DataArgs<'py>,
    ) -> PyResult<(Matrix<'py>, Matrix<'py>, Option<Matrix<'py>>)> {
        let taken = data.take()?;
        let model = self.has(self.model().uncertain_scores(), "a standard error of scores")?;
        let found = taken.run(py, None, |data| model.scores_with_errors(data))?;
        let certainty = found.certainty.map(|certainty| certainty.to_pyarray(py));
        Ok((found.scores.to_pyarray(py), found.standard_errors.to_pyarray(py), certainty))
    }

    /// What each sample says of the hidden variables: means (n × k) and covariances (n × k × k).
    fn posterior<'py>(
        &self,
        py: Python<'py>,
        data: DataArgs<'py>,
    ) -> PyResult<(Matrix<'py>, Bound<'py, PyArray3<f64>>)> {
        let taken = data.take()?;
        let latent = self.latent()?;
        let found = taken.run(py, None, |data| latent.posterior(data))?;
        let (n, k) = found.means.dim();
        let covariance =
            |i: usize, a: usize, b: usize| found.covariance(i).map_or(0.0, |c| c[[a, b]]);
        let covariances = Array3::from_shape_fn((n, k, k), |(i, a, b)| covariance(i, a, b));
        Ok((found.means.to_pyarray(py), covariances.to_pyarray(py)))
    }

    /// Loadings rotated by varimax (d × k), and the rotation (k × k).
    fn varimax<'py>(
        &self,
        py: Python<'py>,
        normalize: bool,
    ) -> PyResult<(Matrix<'py>, Matrix<'py>)> {
        let options = VarimaxOptions { normalize, ..VarimaxOptions::default() };
        let found = self.pca()?.varimax(options).map_err(errors::library)?;
        Ok((found.loadings.to_pyarray(py), found.rotation.to_pyarray(py)))
    }

    /// The covariance of probabilistic PCA (d × d).
    fn covariance<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        Ok(self.latent()?.covariance().to_pyarray(py))
    }

    /// W of probabilistic PCA (d × k).
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        Ok(self.latent()?.weights().to_pyarray(py))
    }

    /// The names of the classes.
    #[getter]
    fn classes(&self) -> PyResult<Vec<String>> {
        Ok(self.classifier()?.classes())
    }

    /// The probability of each class given each sample (n × classes).
    fn predict_proba<'py>(
        &self,
        py: Python<'py>,
        data: DataArgs<'py>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let taken = data.take()?;
        let classifier = self.classifier()?;
        let found = taken.run(py, None, |data| classifier.predict_proba(data))?;
        Ok(found.to_pyarray(py))
    }

    /// How much speaks for each class (n × classes).
    fn decision_function<'py>(
        &self,
        py: Python<'py>,
        data: DataArgs<'py>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let taken = data.take()?;
        let classifier = self.classifier()?;
        let found = taken.run(py, None, |data| classifier.decision_function(data))?;
        Ok(found.to_pyarray(py))
    }

    /// What was asked for, in the words of the surface that was asked.
    #[getter]
    fn options(&self) -> BTreeMap<String, String> {
        self.0.origin.options.clone()
    }

    /// The bytes of the model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.0.to_bytes(Path::new("the model")).map_err(errors::owned_file)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The model in the bytes of a model file, checked.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Model> {
        let stored = StoredModel::from_bytes(bytes, Path::new("the model"));
        stored.map(Model).map_err(errors::owned_file)
    }

    /// Writes the model file, with words about its making; it appears whole or not at all.
    fn save(&self, path: PathBuf, options: BTreeMap<String, String>) -> PyResult<()> {
        let parts = self.model().to_parts().map_err(errors::library)?;
        let stored = StoredModel {
            model: from_parts(&parts).map_err(errors::library)?,
            preprocessing: self.0.preprocessing.clone(),
            origin: Origin { options, ..self.0.origin.clone() },
        };
        let bytes = stored.to_bytes(&path).map_err(errors::owned_file)?;
        let mut output = Output::create(&path, &[]).map_err(errors::owned_file)?;
        output.put(&bytes).map_err(errors::owned_file)?;
        output.commit().map_err(errors::owned_file)
    }

    /// Reads and checks a model file.
    #[staticmethod]
    fn load(path: PathBuf) -> PyResult<Model> {
        StoredModel::read(&path).map(Model).map_err(errors::owned_file)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let make = py.get_type::<Model>().getattr("from_bytes")?;
        (make, (self.to_bytes(py)?,)).into_pyobject(py)
    }
}

/// Scores of either element type.
#[derive(FromPyObject)]
enum Scores<'py> {
    F64(PyReadonlyArray2<'py, f64>),
    F32(PyReadonlyArray2<'py, f32>),
}
