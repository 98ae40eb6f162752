//! The explorer: an interactive report as one HTML file that needs no network.
//!
//! Everything the page shows is in this plain data; its script (`web/`, bundled into `assets/explorer/`) only
//! selects, sorts and draws.

mod arrays;
mod page;

use crate::pictures::choice_of_k::Rule;
use crate::pictures::component::Component;
use crate::pictures::scree::Scree;
use crate::table::Table;

/// An interactive report. Numbers that are not finite are shown as missing.
#[derive(Clone, Debug, Default)]
pub struct Explorer {
    /// Title of the page.
    pub title: String,
    /// A line under the title: what was analysed.
    pub subtitle: String,
    /// The facts at the top: name and value.
    pub facts: Vec<(String, String)>,
    /// What the reader has to know before using the result.
    pub warnings: Vec<String>,
    /// What is not in the page, a sentence each.
    pub left_out: Vec<String>,
    /// The components (k).
    pub components: Vec<Component>,
    /// What is known of each component, its name first.
    pub component_table: Table,
    /// Heights in order, where the model has such.
    pub scree: Option<Scree>,
    /// What rules say about the number of components.
    pub rules: Vec<Rule>,
    /// The samples, where there are any.
    pub samples: Option<ExplorerSamples>,
    /// The features.
    pub features: ExplorerFeatures,
    /// How far the result can be trusted: a question and its answer in plain words.
    pub trust: Vec<(String, String)>,
    /// The certificate, number by number.
    pub certificate: Option<Table>,
    /// Where everything comes from: a heading, and names with values.
    pub provenance: Vec<(String, Vec<(String, String)>)>,
    /// How the result was computed, in a few sentences.
    pub methods: Vec<String>,
    /// Width and height of the images whose pixels are the features.
    pub image: Option<(usize, usize)>,
    /// Whether numbers that are not whole are rounded to 1/65534 of their range, for a smaller page.
    pub compact: bool,
}

/// The samples of an [`Explorer`] (n).
#[derive(Clone, Debug, Default)]
pub struct ExplorerSamples {
    /// The number of each sample in the whole data, counted from 1.
    pub numbers: Vec<usize>,
    /// How many there are in the whole data.
    pub of: usize,
    /// Their names; empty where they have none.
    pub names: Vec<String>,
    /// The scores: n for each component.
    pub scores: Vec<Vec<f64>>,
    /// The share of each sample's squared distance from the mean that each component carries; empty or n for
    /// each component.
    pub squared_cosines: Vec<Vec<f64>>,
    /// Hotelling's T² against Q.
    pub monitoring: Option<ExplorerMonitoring>,
    /// What else is known of the samples.
    pub columns: Vec<ExplorerColumn>,
    /// The column that colours them at first.
    pub color: Option<usize>,
    /// The values of the features: empty, or n for each feature.
    pub features: Vec<Vec<f64>>,
}

/// T² and Q of samples (n each); not a number where they are not defined.
#[derive(Clone, Debug, Default)]
pub struct ExplorerMonitoring {
    /// T² of each sample.
    pub t_squared: Vec<f64>,
    /// Q of each sample.
    pub q: Vec<f64>,
    /// Limits of both, where known.
    pub limits: [Option<f64>; 2],
    /// What the limits are, such as `95 % limit`.
    pub limit_label: String,
    /// What T² and Q are, in a sentence or two.
    pub caption: String,
}

/// What is known of the samples besides their features.
#[derive(Clone, Debug, Default)]
pub struct ExplorerColumn {
    /// Its name.
    pub name: String,
    /// Its values.
    pub values: ExplorerValues,
    /// The share of each component's variance that lies between the groups or goes with the values; empty or k.
    pub association: Vec<f64>,
}

/// The values of a column (n).
#[derive(Clone, Debug)]
pub enum ExplorerValues {
    /// Groups, by index into their names.
    Groups {
        /// The names.
        names: Vec<String>,
        /// The group of each sample.
        of: Vec<usize>,
    },
    /// Numbers.
    Numbers(Vec<f64>),
}

impl Default for ExplorerValues {
    fn default() -> Self {
        ExplorerValues::Numbers(Vec::new())
    }
}

/// The features of an [`Explorer`] (d).
#[derive(Clone, Debug, Default)]
pub struct ExplorerFeatures {
    /// Their names.
    pub names: Vec<String>,
    /// The weights of each component, d each; empty where scores are not linear in the features.
    pub weights: Vec<Vec<f64>>,
    /// The loadings of each component, d each.
    pub loadings: Vec<Vec<f64>>,
    /// The correlations with each component's scores, d each; empty where not defined.
    pub correlations: Vec<Vec<f64>>,
    /// What loadings are.
    pub caption: String,
    /// What is subtracted from each feature (d), and what it is multiplied by, before weights are applied; empty
    /// where scores are not just the sum of the products.
    pub center: Vec<f64>,
    /// See `center`.
    pub inverse_scale: Vec<f64>,
}
