//! What is to be drawn: a model, the samples where there are any, and what was asked for.

use crate::error::{Error, Result};
use crate::samples::Samples;
use eigenlens::Model;
use ndarray::Array2;
use std::sync::OnceLock;

/// A model, samples and options, for any number of plots.
pub struct Request<'d, 'a> {
    model: &'a dyn Model,
    samples: Option<Samples<'d, 'a>>,
    axes: [usize; 2],
    image_shape: Option<ImageShape>,
    seed: u64,
    /// Made once, for whichever plots show them.
    scores: OnceLock<Array2<f64>>,
}

/// The size of images whose pixels are the features, row by row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageShape {
    /// Pixels from left to right.
    pub width: usize,
    /// Pixels from top to bottom.
    pub height: usize,
}

impl ImageShape {
    fn n_pixels(self) -> Option<usize> {
        self.width.checked_mul(self.height)
    }
}

impl<'d, 'a> Request<'d, 'a> {
    /// The model alone.
    pub fn new(model: &'a dyn Model) -> Request<'d, 'a> {
        let (axes, scores) = ([0, 1], OnceLock::new());
        Request { model, samples: None, axes, image_shape: None, seed: 0, scores }
    }

    /// With samples.
    pub fn with_samples<'n>(self, samples: Samples<'n, 'a>) -> Request<'n, 'a> {
        let Request { model, axes, image_shape, seed, .. } = self;
        let (samples, scores) = (Some(samples), OnceLock::new());
        Request { model, samples, axes, image_shape, seed, scores }
    }

    /// With two components, counted from 0, in place of the first two.
    pub fn with_axes(self, axes: [usize; 2]) -> Result<Request<'d, 'a>> {
        let n_components = self.model.n_components();
        // A model of one component is shown on a line.
        let most = n_components.max(2);
        if axes[0] == axes[1] || axes.iter().any(|axis| *axis >= most) {
            return Err(Error::Axes { n_components });
        }
        Ok(Request { axes, ..self })
    }

    /// With the size of the images that samples are: as is said, else as they were read, where all pixels still
    /// are features.
    pub fn with_image_shape(
        self,
        said: Option<ImageShape>,
        read: Option<ImageShape>,
    ) -> Result<Request<'d, 'a>> {
        let n_features = self.model.n_features();
        let is_whole = |shape: &ImageShape| shape.n_pixels() == Some(n_features);
        if let Some(ImageShape { width, height }) = said.filter(|said| !is_whole(said)) {
            return Err(Error::ImageShape { width, height, n_features });
        }
        Ok(Request { image_shape: said.or(read.filter(is_whole)), ..self })
    }

    /// With the seed of random numbers.
    pub fn with_seed(self, seed: u64) -> Request<'d, 'a> {
        Request { seed, ..self }
    }

    /// The model.
    pub fn model(&self) -> &'a dyn Model {
        self.model
    }

    /// The samples, where there are any.
    pub fn samples(&self) -> Option<&Samples<'d, 'a>> {
        self.samples.as_ref()
    }

    pub(crate) fn axes(&self) -> [usize; 2] {
        self.axes
    }

    pub(crate) fn image_shape(&self) -> Option<ImageShape> {
        self.image_shape
    }

    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }

    /// The samples, for a plot that needs them.
    pub(crate) fn need_samples(&self, plot: &'static str) -> Result<&Samples<'d, 'a>> {
        self.samples.as_ref().ok_or(Error::NeedsData { plot })
    }

    /// The scores of the samples (n × k).
    pub(crate) fn scores(&self, samples: &Samples) -> Result<&Array2<f64>> {
        if let Some(scores) = self.scores.get() {
            return Ok(scores);
        }
        let scores = samples.scores(self.model).map_err(Error::Samples)?;
        Ok(self.scores.get_or_init(|| scores))
    }

    /// The samples in the plane of the two components. A model of one component has points on a line.
    pub(crate) fn points(&self, plot: &'static str) -> Result<Vec<[f64; 2]>> {
        let scores = self.scores(self.need_samples(plot)?)?;
        let at = |i: usize, axis: usize| scores.get([i, axis]).copied().unwrap_or(0.0);
        Ok((0..scores.nrows()).map(|i| self.axes.map(|axis| at(i, axis))).collect())
    }
}
