//! Pictures of a model and of samples: the library's numbers in the report's structures.

use crate::arguments::{Common, Reading};
use crate::describe::{component_names, feature_names};
use crate::failure::Failure;
use crate::input::{Input, Opened, Piece};
use crate::missing::Whole;
use crate::output::create;
use crate::progress::Progress;
use crate::reporter::Reporter;
use crate::terms;
use eigenlens::model::ppca::Posterior;
use eigenlens::model::{Cells, Linear, covariance_ellipse, normal_ellipse};
use eigenlens::{AnyDataset, Dataset, Model, PathPoint, PcaModel, dispatch};
use eigenlens_io::write::Output;
use eigenlens_io::{AnyArray, Labels, StoredModel};
use eigenlens_report::{
    Arrow, Biplot, Coloring, Component, CorrelationCircle, Ellipse, Limit, Line, LoadingBars,
    Loadings, LoadingsHeatMap, Mark, Monitoring, Picture, Scores, Series, Share,
};
use ndarray::{Array2, s};
use std::path::{Path, PathBuf};

/// Groups beyond this number colour nothing.
const MOST_GROUPS: usize = 20;
/// The share of a normal distribution that an ellipse holds, and the confidence of limits.
const CONFIDENCE: f64 = 0.95;

/// Samples as pictures need them.
pub struct Samples {
    scores: Array2<f64>,
    label_names: Vec<String>,
    labels: Vec<Labels>,
    /// Column that colours and column that names, by index into the labels.
    color: Option<usize>,
    names: Option<usize>,
    /// T² and Q, where the model is a PCA.
    monitored: Option<eigenlens::Result<Monitored>>,
    /// The first samples themselves, for reconstructions.
    pub first: Array2<f64>,
    /// What is known of latent scores, where the model is a density.
    posterior: Option<Posterior>,
}

impl Samples {
    /// Reads a table and transforms it; the columns that colour and name samples may be asked for.
    pub fn read(
        paths: &[PathBuf],
        stored: &StoredModel,
        reading: &Reading,
        [color, names]: [Option<&String>; 2],
        common: &Common,
        reporter: &Reporter,
    ) -> Result<Samples, Failure> {
        let opened = Opened::for_model(paths, stored, reading, common, reporter)?;
        let color = color.map(|name| opened.label(name)).transpose()?;
        let names = names.map(|name| opened.label(name)).transpose()?;
        let progress = Progress::bytes(reporter, "reading");
        let tell = |done, total| progress.at(done, total);
        let input = opened.load_all(common, &progress, &tell, reporter)?;
        let mut samples = Samples::of(&input, &opened, stored).map_err(|e| opened.explain(e, 0))?;
        samples.color = color.or(samples.color);
        samples.names = names.or(samples.names);
        Ok(samples)
    }

    fn of(
        input: &Input,
        opened: &Opened,
        stored: &StoredModel,
    ) -> Result<Samples, eigenlens::Error> {
        let model = &*stored.model;
        let Some(rows) = input.piece() else {
            return Err(eigenlens::Error::Internal("the table is not in memory".into()));
        };
        let weighted = match (&stored.term_weights, rows) {
            (Some(weights), Piece::Dense(x)) => Some(weights.apply(&terms::sparse(x)?)?),
            (Some(weights), Piece::Sparse(x)) => Some(weights.apply(x)?),
            (None, _) => None,
        };
        let data = match &weighted {
            Some(counts) => AnyDataset::F64(Dataset::sparse(counts)),
            None => opened.with_policy(rows.data()),
        };
        let scores = match terms::filled_scores(stored, &data, opened)? {
            AnyArray::F32(scores) => scores.mapv(f64::from),
            AnyArray::F64(scores) => scores,
        };
        let monitored = model.as_pca().map(|pca| Monitored::of(pca, &data));
        let first = match rows {
            Piece::Dense(AnyArray::F32(x)) => x.slice(s![..x.nrows().min(6), ..]).mapv(f64::from),
            Piece::Dense(AnyArray::F64(x)) => x.slice(s![..x.nrows().min(6), ..]).to_owned(),
            Piece::Sparse(x) => Array2::zeros((0, x.n_columns())),
        };
        let labels = input.labels().to_vec();
        let label_names = opened.label_names();
        let posterior = match model.as_ppca() {
            Some(ppca) => Some(dispatch!(&data, d => ppca.posterior(d))?),
            None => None,
        };
        // What the model was fitted to says most.
        let target = stored.origin.options.get("target");
        let target = target.and_then(|name| label_names.iter().position(|label| label == name));
        let color = target.or_else(|| labels.iter().position(colours));
        let names = labels.iter().position(|column| names_samples(column, scores.nrows()));
        Ok(Samples { scores, label_names, labels, color, names, monitored, first, posterior })
    }

    pub fn len(&self) -> usize {
        self.scores.nrows()
    }

    /// Samples in the plane of two components.
    pub fn scores_picture(
        &self,
        stored: &StoredModel,
        axes: [usize; 2],
    ) -> Result<Scores, Failure> {
        let model = &*stored.model;
        let points = self.points(model, axes);
        let coloring = self.coloring();
        let probabilities = model.scores_are_probabilities();
        let ellipses = if probabilities { Vec::new() } else { ellipses(&points, &coloring)? };
        let title = if probabilities { "Probabilities of the parts" } else { "" };
        Ok(Scores {
            title: title.into(),
            x: component(model, axes[0]),
            y: component(model, axes[1]),
            names: self.names(),
            caption: ellipse_caption(&ellipses),
            ellipses,
            coloring,
            points,
            ..Scores::default()
        })
    }

    /// Posterior means in the plane of two components, with ellipses that hold 95 % of the posterior of
    /// their samples: of all, or of some, as the caption says.
    pub fn posterior_picture(
        &self,
        stored: &StoredModel,
        axes: [usize; 2],
    ) -> Result<Scores, Failure> {
        let model = &*stored.model;
        let Some(posterior) = &self.posterior else { return Err(no_picture(model, "posterior")) };
        let mut picture = self.scores_picture(stored, axes)?;
        let groups: Vec<usize> = match &picture.coloring {
            Coloring::Groups { of, .. } => of.clone(),
            _ => Vec::new(),
        };
        let d = model.n_features();
        let holed: Vec<usize> = (0..self.len()).filter(|&i| posterior.observed[i] < d).collect();
        let ellipses = EllipsesShown::of(self.len(), holed);
        picture.title = "Posterior means".into();
        picture.ellipses = Vec::new();
        for &i in &ellipses.rows {
            let Some(spread) = posterior.covariance(i) else { continue };
            let entry = |a: usize, b: usize| spread.get([a, b]).copied().unwrap_or(0.0);
            let covariance = [
                [entry(axes[0], axes[0]), entry(axes[0], axes[1])],
                [entry(axes[1], axes[0]), entry(axes[1], axes[1])],
            ];
            let e = covariance_ellipse(picture.points[i], covariance, CONFIDENCE)?;
            let group = groups.get(i).copied();
            picture.ellipses.push(Ellipse { group, center: e.center, axes: e.axes });
        }
        picture.caption = format!("Ellipses hold 95 % of the posterior of {}.", ellipses.whose);
        Ok(picture)
    }

    /// Samples and features together: distances between samples are true (Gabriel 1971).
    pub fn biplot(&self, stored: &StoredModel, axes: [usize; 2]) -> Result<Biplot, Failure> {
        let model = &*stored.model;
        let points = self.points(model, axes);
        let coloring = self.coloring();
        let ellipses = ellipses(&points, &coloring)?;
        let components = need_linear(model, "biplot")?.components;
        let tip = |f: usize| axes.map(|axis| entry(&components, axis, f));
        Ok(Biplot {
            x: component(model, axes[0]),
            y: component(model, axes[1]),
            names: self.names(),
            arrows: arrows(model, tip),
            scaling: "Points are scores, arrows are unit components: distances between points \
                      approximate distances between samples."
                .into(),
            caption: ellipse_caption(&ellipses),
            ellipses,
            coloring,
            points,
            ..Biplot::default()
        })
    }

    /// T² against Q, where both are defined.
    pub fn monitoring(&self, model: &dyn Model) -> Result<Monitoring, Failure> {
        let (Some(pca), Some(monitored)) = (model.as_pca(), &self.monitored) else {
            return Err(no_picture(model, "monitoring"));
        };
        let found = match monitored {
            Ok(found) => found,
            Err(eigenlens::Error::NothingLeft { left, .. }) => {
                return Err(Failure::Data {
                    what: format!(
                        "T² and Q are those of samples without missing entries, but only {left} of \
                         the {} samples have none",
                        self.len()
                    ),
                    hint: Some("use `--kind scores`".into()),
                });
            }
            Err(error) => return Err(Failure::Check(error.to_string())),
        };
        let mut caption = String::from(
            "T² is the distance within the components, Q the squared distance from them; limits \
             assume normal training samples.",
        );
        let mut names = self.names();
        if let Some(rows) = &found.rows {
            caption.push_str(&format!(
                " Shown are {} of the {} samples: those without missing entries.",
                rows.len(),
                self.len()
            ));
            names = rows.iter().filter_map(|&row| names.get(row).cloned()).collect();
        }
        let percent = format!("{:.0} % limit", 100.0 * CONFIDENCE);
        let limit = |value: Option<f64>| value.map(|value| Limit { value, label: percent.clone() });
        Ok(Monitoring {
            t_squared: found.t_squared.clone(),
            q: found.q.clone(),
            t_squared_limit: limit(pca.t_squared_limit_training(CONFIDENCE).ok()),
            q_limit: limit(found.q_limit.filter(|limit| *limit > 0.0)),
            names,
            caption,
            ..Monitoring::default()
        })
    }

    /// How many of how many samples have T² and Q, where not all do.
    pub fn monitored_of(&self) -> Option<(usize, usize)> {
        let rows = self.monitored.as_ref()?.as_ref().ok()?.rows.as_ref()?;
        Some((rows.len(), self.len()))
    }

    /// A model of one component has points on a line.
    fn points(&self, model: &dyn Model, axes: [usize; 2]) -> Vec<[f64; 2]> {
        let at = |row: ndarray::ArrayView1<f64>, axis: usize| {
            if axis < model.n_components() { row[axis] } else { 0.0 }
        };
        let point = |row: ndarray::ArrayView1<f64>| axes.map(|axis| at(row, axis));
        self.scores.rows().into_iter().map(point).collect()
    }

    fn names(&self) -> Vec<String> {
        match self.names.and_then(|index| self.labels.get(index)) {
            Some(column) => column.iter().map(str::to_owned).collect(),
            None => Vec::new(),
        }
    }

    fn coloring(&self) -> Coloring {
        let Some(column) = self.color.and_then(|index| self.labels.get(index)) else {
            return Coloring::default();
        };
        let numbers: Option<Vec<f64>> = column.iter().map(|label| label.parse().ok()).collect();
        if let Some(values) = numbers.filter(|_| !colours(column)) {
            let name = self.color.and_then(|index| self.label_names.get(index)).cloned();
            return Coloring::Values { name: name.unwrap_or_default(), values };
        }
        let mut names: Vec<String> = Vec::new();
        let of = (column.iter())
            .map(|label| match names.iter().position(|name| name == label) {
                Some(group) => group,
                None => {
                    names.push(label.into());
                    names.len() - 1
                }
            })
            .collect();
        Coloring::Groups { names, of }
    }
}

/// T² and Q of samples.
struct Monitored {
    t_squared: Vec<f64>,
    q: Vec<f64>,
    q_limit: Option<f64>,
    /// The samples they are of, where not of all: those without missing entries.
    rows: Option<Vec<usize>>,
}

impl Monitored {
    fn of(pca: &PcaModel, data: &AnyDataset) -> eigenlens::Result<Monitored> {
        let whole = Whole::complete_rows(data)?;
        let data = whole.data();
        let diagnostics = dispatch!(&data, d => pca.sample_diagnostics(d))?;
        let q_limit = dispatch!(&data, d => pca.q_limit(d, CONFIDENCE)).ok();
        Ok(Monitored {
            t_squared: diagnostics.t_squared.to_vec(),
            q: diagnostics.q.to_vec(),
            q_limit: q_limit.map(|limit| limit.q()),
            rows: whole.kept_rows().map(<[usize]>::to_vec),
        })
    }
}

/// The samples whose posterior is drawn.
struct EllipsesShown {
    rows: Vec<usize>,
    /// Which they are and how many of how many, in words.
    whose: String,
}

impl EllipsesShown {
    /// Of all n samples, or where these are too many of those with missing entries, whose ellipses
    /// differ; of samples without any all ellipses are alike, and some show what they are.
    fn of(n: usize, holed: Vec<usize>) -> EllipsesShown {
        /// More ellipses than these hide each other.
        const MOST: usize = 60;
        let evenly = |all: usize| (0..MOST).map(move |j| j * all / MOST);
        let with_missing_values = holed.len();
        let (rows, whose) = if n <= MOST {
            ((0..n).collect(), format!("all {n} samples"))
        } else if with_missing_values == 0 {
            let whose = format!("{MOST} of the {n} samples, spread evenly through the table");
            (evenly(n).collect(), whose)
        } else if with_missing_values <= MOST {
            let whose =
                format!("{with_missing_values} of the {n} samples, those with missing entries");
            (holed, whose)
        } else {
            let whose = format!(
                "{MOST} of the {n} samples, spread evenly among the {with_missing_values} with missing entries"
            );
            (evenly(with_missing_values).map(|j| holed[j]).collect(), whose)
        };
        EllipsesShown { rows, whose }
    }
}

/// Entries that were hidden from the model against what it puts in their place, in standard
/// deviations of their feature.
pub fn imputation_picture(
    paths: &[PathBuf],
    stored: &StoredModel,
    reading: &Reading,
    common: &Common,
    reporter: &Reporter,
) -> Result<Scores, Failure> {
    /// The share of observed entries that is hidden.
    const HIDDEN: f64 = 0.1;
    let model = &*stored.model;
    let Some(ppca) = model.as_ppca() else { return Err(no_picture(model, "imputation")) };
    let opened = Opened::for_model(paths, stored, reading, common, reporter)?;
    let progress = Progress::bytes(reporter, "reading");
    let tell = |done, total| progress.at(done, total);
    let input = opened.load_all(common, &progress, &tell, reporter)?;
    let data = input.data()?;
    let hidden = dispatch!(&data, d => ppca.held_out(d, HIDDEN, common.seed));
    let hidden = hidden.map_err(|e| opened.explain(e, 0))?;
    if hidden.entries.is_empty() {
        return Err(Failure::usage(
            "there are too few observed entries to hide some of them",
            "use a larger table, or another `--seed`",
        ));
    }
    let axis = |what: &str| Component {
        name: format!("{what} value, in standard deviations of its feature"),
        share: None,
    };
    Ok(Scores {
        title: "Imputed values against hidden ones".into(),
        x: axis("hidden"),
        y: axis("imputed"),
        points: hidden.entries.iter().map(|e| [e.actual, e.imputed]).collect(),
        points_are: "observed entries, hidden and imputed".into(),
        equal_units: true,
        diagonal: true,
        caption: format!(
            "{:.0} % of the observed entries were hidden at random and imputed from the rest of their \
             samples. On the line an entry is imputed without error. The root mean square error is \
             {:.3} standard deviations, where the feature's mean would have 1; {:.1} % of the entries \
             lie within 1.96 standard errors, where 95 % should.",
            100.0 * HIDDEN,
            hidden.root_mean_square(),
            100.0 * hidden.coverage(1.96)
        ),
        ..Scores::default()
    })
}

/// A column with a few values, each several times.
fn colours(column: &Labels) -> bool {
    let mut values = std::collections::BTreeSet::new();
    for label in column.iter() {
        values.insert(label);
        if values.len() > MOST_GROUPS {
            return false;
        }
    }
    values.len() > 1 && 2 * values.len() <= column.len()
}

/// A column with a value of its own for each sample.
fn names_samples(column: &Labels, n: usize) -> bool {
    n <= 2000 && column.iter().collect::<std::collections::BTreeSet<_>>().len() == n
}

fn ellipses(points: &[[f64; 2]], coloring: &Coloring) -> Result<Vec<Ellipse>, Failure> {
    let Coloring::Groups { names, of } = coloring else { return Ok(Vec::new()) };
    let mut ellipses = Vec::new();
    for group in 0..names.len() {
        let members: Vec<[f64; 2]> =
            points.iter().zip(of).filter(|(_, g)| **g == group).map(|(p, _)| *p).collect();
        if let Some(e) = normal_ellipse(&members, CONFIDENCE)? {
            ellipses.push(Ellipse { group: Some(group), center: e.center, axes: e.axes });
        }
    }
    Ok(ellipses)
}

fn ellipse_caption(ellipses: &[Ellipse]) -> String {
    if ellipses.is_empty() {
        return String::new();
    }
    "Ellipses hold 95 % of a normal distribution with each group's mean and covariance.".into()
}

/// A component as axes name it, with the share that the model says it carries.
pub fn component(model: &dyn Model, index: usize) -> Component {
    let name = component_names(model).get(index).cloned().unwrap_or_default();
    let name =
        if model.scores_are_probabilities() { format!("Probability of {name}") } else { name };
    let share = model.component_shares().and_then(|shares| {
        let value = shares.values.get(index).copied()?;
        Some(Share { value, of: shares.of.into() })
    });
    Component { name, share }
}

fn need_linear<'a>(model: &'a dyn Model, kind: &str) -> Result<Linear<'a>, Failure> {
    model.linear().ok_or_else(|| no_picture(model, kind))
}

/// A picture that needs more than the model has.
pub fn no_picture(model: &dyn Model, kind: &str) -> Failure {
    Failure::usage(
        format!("`--kind {kind}` does not fit a model of the method `{}`", model.method()),
        "use `--kind scores`",
    )
}

fn entry(components: &ndarray::ArrayView2<f64>, j: usize, f: usize) -> f64 {
    components.get([j, f]).copied().unwrap_or(0.0)
}

fn arrows(model: &dyn Model, tip: impl Fn(usize) -> [f64; 2]) -> Vec<Arrow> {
    let names = feature_names(model).into_iter().enumerate();
    names.map(|(f, name)| Arrow { name, tip: tip(f) }).collect()
}

/// What pictures of loadings say of them.
const LOADINGS: &str = "Loadings: components times the standard deviations of their scores.";

/// Bars of the largest loadings of the first components.
pub fn loadings(model: &dyn Model) -> Result<Loadings, Failure> {
    let loadings = need_linear(model, "loadings")?.loadings;
    let bars = |j: usize| LoadingBars {
        component: component(model, j),
        values: loadings.column(j).to_vec(),
    };
    Ok(Loadings {
        features: feature_names(model),
        components: (0..model.n_components().min(4)).map(bars).collect(),
        caption: LOADINGS.into(),
        ..Loadings::default()
    })
}

/// All loadings as colours.
pub fn heat_map(model: &dyn Model) -> Result<LoadingsHeatMap, Failure> {
    let loadings = need_linear(model, "heat-map")?.loadings;
    Ok(LoadingsHeatMap {
        features: feature_names(model),
        components: (0..model.n_components()).map(|j| component(model, j)).collect(),
        values: loadings.rows().into_iter().map(|row| row.to_vec()).collect(),
        caption: LOADINGS.into(),
        ..LoadingsHeatMap::default()
    })
}

/// Variance explained against non-zeros.
pub fn path(model: &dyn Model) -> Result<Line, Failure> {
    let Some(path) = model.path() else {
        return Err(Failure::usage(
            "this model holds no path",
            "fit it with `eigenlens fit sparse-pca DATA --path 30`",
        ));
    };
    let names = component_names(model);
    let curve = |name: String, share: &dyn Fn(&PathPoint) -> f64| Series {
        name,
        points: path
            .points
            .iter()
            .map(|point| [point.total_non_zeros() as f64, 100.0 * share(point)])
            .collect(),
        ..Series::default()
    };
    let mut series = vec![curve("all components".into(), &PathPoint::explained)];
    if names.len() > 1 {
        let one = |(j, name): (usize, &String)| {
            curve(name.clone(), &move |point: &PathPoint| point.adjusted_variance_ratio[j])
        };
        series.extend(names.iter().enumerate().map(one));
    }
    let plain = 100.0 * path.plain_variance_ratio;
    let (components, non_zeros) = (
        if names.len() == 1 { "component" } else { "components" },
        model.summary().columns.iter().find_map(|column| match (&column.cells, column.name) {
            (Cells::Words(words), "non-zeros") => {
                Some(words.iter().filter_map(|w| w.parse::<usize>().ok()).sum::<usize>())
            }
            _ => None,
        }),
    );
    Ok(Line {
        title: "Variance explained against non-zeros".into(),
        subtitle: format!("{} plain {components} explain {plain:.1} %", names.len()),
        x_label: "Non-zeros of all components".into(),
        y_label: "Adjusted variance, % of the total".into(),
        series,
        marks: non_zeros
            .map(|x| Mark { x: x as f64, label: "this model".into() })
            .into_iter()
            .collect(),
        caption: "Each component adds what the ones before it do not explain.".into(),
        ..Line::default()
    })
}

/// Correlations of features with two components.
pub fn circle(model: &dyn Model, axes: [usize; 2]) -> Result<CorrelationCircle, Failure> {
    let pca = model.as_pca().ok_or_else(|| no_picture(model, "circle"))?;
    let found = pca.feature_diagnostics()?.correlations;
    let tip = |f: usize| axes.map(|axis| found.get([f, axis]).copied().unwrap_or(0.0));
    Ok(CorrelationCircle {
        x: component(model, axes[0]),
        y: component(model, axes[1]),
        arrows: arrows(model, tip),
        ..CorrelationCircle::default()
    })
}

/// A picture's file, made before anything is read.
pub struct PictureOutput {
    output: Output,
    path: PathBuf,
    png: bool,
}

impl PictureOutput {
    pub fn create(path: &Path, inputs: &[PathBuf]) -> Result<PictureOutput, Failure> {
        let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
        let png = match extension.as_deref() {
            Some("svg") => false,
            Some("png") => true,
            None if path == Path::new("-") => false,
            _ => {
                return Err(Failure::usage(
                    format!("`{}` is no picture's name", path.display()),
                    "use a name that ends in `.svg` or `.png`",
                ));
            }
        };
        Ok(PictureOutput { output: create(path, inputs)?, path: path.into(), png })
    }

    pub fn write(mut self, picture: &Picture, reporter: &Reporter) -> Result<(), Failure> {
        if self.png {
            self.output.put(&picture.png(Picture::SCALE)?)?;
        } else {
            self.output.put(picture.svg().as_bytes())?;
        }
        self.output.commit()?;
        if self.path != Path::new("-") {
            reporter.info(format!("picture: {}", self.path.display()));
        }
        Ok(())
    }
}
