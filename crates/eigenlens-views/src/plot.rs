//! What every surface knows of a plot.

use crate::error::{Error, Result};
use crate::plots::{PLOTS, images, scores, scree};
use crate::request::Request;
use eigenlens::Model;
use eigenlens_report::Picture;

/// A row of [`PLOTS`].
pub struct Plot {
    /// Its name on every surface.
    pub name: &'static str,
    /// What it shows, in a few words.
    pub about: &'static str,
    /// Whether it shows samples.
    pub data: DataUse,
    /// What a model must have to be shown like this.
    pub needs: Capability,
    /// What else may be asked of it.
    pub options: &'static [PlotOption],
    /// Where it stands in a report, if it does.
    pub report: Option<InReport>,
    pub(crate) draw: fn(&Request) -> Result<Drawing>,
}

/// What a plot makes of samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataUse {
    /// It shows the model alone.
    None,
    /// It shows more where there are samples.
    Optional,
    /// It shows samples.
    Required,
}

/// What only some models have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capability {
    /// Scores, which every model has.
    Scores,
    /// Values in order, for a scree plot.
    Scree,
    /// Scores that are linear in the features.
    Linear,
    /// All that a PCA has: correlations, T² and Q, a way back from scores.
    Pca,
    /// Hidden variables with a Gaussian prior.
    Latent,
    /// A regularisation path.
    Path,
}

/// What may be asked of a plot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlotOption {
    /// The two components of its plane.
    Axes,
    /// What colours the samples.
    Color,
    /// What names the samples.
    Names,
    /// The size of images whose pixels are the features.
    ImageSize,
}

/// A place in a report.
#[derive(Clone, Copy)]
pub struct InReport {
    /// The section.
    pub section: Section,
    /// Whether it is worth its place there.
    pub(crate) shown: fn(&Request) -> bool,
}

/// A section of a report, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// What is known of each component.
    Components,
    /// Samples among the components.
    Samples,
    /// What the components are made of.
    Features,
    /// Components and samples as images.
    Images,
}

/// A picture, and what should be said beside it.
#[derive(Clone, Debug)]
pub struct Drawing {
    /// The picture.
    pub picture: Picture,
    /// What is not obvious from the picture, such as samples that are not shown.
    pub note: Option<String>,
}

impl From<Picture> for Drawing {
    fn from(picture: Picture) -> Drawing {
        Drawing { picture, note: None }
    }
}

impl Plot {
    /// The plot of this name.
    pub fn named(name: &str) -> Option<&'static Plot> {
        PLOTS.iter().copied().find(|plot| plot.name == name)
    }

    /// The plot where none is asked for by name.
    pub fn default_for(has_data: bool, has_image_size: bool) -> &'static Plot {
        match (has_image_size, has_data) {
            (true, _) => &images::PLOT,
            (false, true) => &scores::PLOT,
            (false, false) => &scree::PLOT,
        }
    }

    /// Whether this may be asked of it.
    pub fn takes(&self, option: PlotOption) -> bool {
        self.options.contains(&option)
    }

    /// Refuses options that it would ignore.
    pub fn check_options(&self, given: impl IntoIterator<Item = PlotOption>) -> Result<()> {
        match given.into_iter().find(|option| !self.takes(*option)) {
            Some(option) => Err(Error::Option { plot: self.name, option }),
            None => Ok(()),
        }
    }

    /// Whether it can be drawn, as far as that is known before data are read.
    pub fn check(&self, model: &dyn Model, has_data: bool) -> Result<()> {
        if self.data == DataUse::Required && !has_data {
            return Err(Error::NeedsData { plot: self.name });
        }
        if !self.needs.is_had_by(model) {
            let (plot, method) = (self.name, model.method());
            return Err(Error::DoesNotFit { plot, method, needs: self.needs });
        }
        Ok(())
    }

    /// Draws it.
    pub fn draw(&self, request: &Request) -> Result<Drawing> {
        self.check(request.model(), request.samples().is_some())?;
        (self.draw)(request)
    }

    /// Whether a report on what was asked for shows it in this section.
    pub fn is_in_report(&self, section: Section, request: &Request) -> bool {
        let place = self.report.filter(|place| place.section == section);
        place.is_some_and(|place| {
            let drawable = self.check(request.model(), request.samples().is_some()).is_ok();
            drawable && (place.shown)(request)
        })
    }
}

impl Capability {
    /// Whether a model has it.
    pub fn is_had_by(self, model: &dyn Model) -> bool {
        match self {
            Capability::Scores => true,
            Capability::Scree => model.summary().scree.is_some(),
            Capability::Linear => model.linear().is_some(),
            Capability::Pca => model.pca().is_some(),
            Capability::Latent => model.latent().is_some(),
            Capability::Path => model.path().is_some(),
        }
    }
}

impl Section {
    /// All sections, in the order of a report.
    pub const ALL: [Section; 4] =
        [Section::Components, Section::Samples, Section::Features, Section::Images];

    /// Its heading.
    pub fn title(self) -> &'static str {
        match self {
            Section::Components => "Components",
            Section::Samples => "Samples",
            Section::Features => "Features",
            Section::Images => "Images",
        }
    }
}

impl InReport {
    /// Always shown in a section.
    pub(crate) const fn always(section: Section) -> Option<InReport> {
        InReport::when(section, |_| true)
    }

    pub(crate) const fn when(section: Section, shown: fn(&Request) -> bool) -> Option<InReport> {
        Some(InReport { section, shown })
    }
}
