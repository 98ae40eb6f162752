//! `eigenlens report`.

use crate::arguments::{Common, Report};
use crate::describe::{components_table, read_model, scree};
use crate::failure::Failure;
use crate::images;
use crate::output::{create, default_path};
use crate::pictures::{self, Samples};
use crate::reporter::Reporter;
use eigenlens::{Certificate, Model, PcaModel, Summary};
use eigenlens_io::StoredModel;
use eigenlens_report::html::{self, Block, Section};
use eigenlens_report::{Column, Picture, Table};

pub fn run(args: &Report, common: &Common, reporter: &Reporter) -> Result<(), Failure> {
    if args.data.is_empty() && (args.color.is_some() || args.names.is_some()) {
        return Err(Failure::usage(
            "`--color` and `--names` are about samples, and there is no table",
            format!("use `eigenlens report {} DATA`", args.model.display()),
        ));
    }
    let inputs = [&args.data[..], std::slice::from_ref(&args.model)].concat();
    let path = args.output.clone().unwrap_or_else(|| default_path(&args.model, "report.html"));
    let mut output = create(&path, &inputs)?;
    let stored = read_model(&args.model, common.threads)?;
    let samples = if args.data.is_empty() {
        None
    } else {
        let marked = [args.color.as_ref(), args.names.as_ref()];
        Some(Samples::read(&args.data, &stored, &args.reading, marked, common, reporter)?)
    };
    output.put(page(args, &stored, samples.as_ref())?.to_html().as_bytes())?;
    output.commit()?;
    if path.as_os_str() != "-" {
        reporter.info(format!("report: {}", path.display()));
    }
    Ok(())
}

fn page(
    args: &Report,
    stored: &StoredModel,
    samples: Option<&Samples>,
) -> Result<html::Report, Failure> {
    let model = &*stored.model;
    let summary = model.summary();
    let mut blocks = Vec::new();
    if let Some(scree) = scree(model, &summary, "") {
        blocks.push(figure(scree.draw()?));
    }
    blocks.push(Block::Table(Box::new(components_table(model, &summary, 50))));
    let mut sections = vec![Section { title: "Components".into(), blocks }];
    if let Some(samples) = samples {
        sections.push(of_samples(stored, samples)?);
    }
    if model.linear().is_some() {
        sections.push(of_features(model)?);
    }
    if let (Some(shape), Some(pca)) = (images::shape(stored, args.image_size)?, model.as_pca()) {
        let grid = images::grid(pca, shape, samples.map(|s| &s.first))?;
        sections.push(Section { title: "Images".into(), blocks: vec![figure(grid.draw()?)] });
    }
    sections.push(trust(model, &summary));
    Ok(html::Report {
        title: format!("{} of {} features", model.method(), model.n_features()),
        summary: facts(model, &summary, samples),
        subtitle: summary.headline,
        warnings: model.warnings().iter().map(ToString::to_string).collect(),
        sections,
        methods: methods(stored),
        footer: format!("Made with {}.", stored.origin.program),
    })
}

fn figure(picture: Picture) -> Block {
    Block::Figure(Box::new(picture), String::new())
}

fn facts(model: &dyn Model, summary: &Summary, samples: Option<&Samples>) -> Vec<(String, String)> {
    let mut facts = vec![
        ("training samples", model.n_samples().map_or("not known".into(), |n| n.to_string())),
        ("features", model.n_features().to_string()),
        ("components", model.n_components().to_string()),
    ];
    facts.extend(summary.facts.iter().cloned());
    if let Some(certificate) = model.certificate() {
        facts.push(("largest residual", format!("{:.1e}", certificate.relative_residual())));
    }
    if let Some(samples) = samples {
        facts.push(("samples shown", samples.len().to_string()));
    }
    facts.into_iter().map(|(name, value)| (name.to_string(), value)).collect()
}

fn of_samples(stored: &StoredModel, samples: &Samples) -> Result<Section, Failure> {
    let model = &*stored.model;
    let mut blocks = vec![figure(samples.scores_picture(stored, [0, 1])?.draw()?)];
    // Arrows of thousands of features hide the points.
    if model.linear().is_some() && model.n_features() <= 60 && model.n_components() > 1 {
        blocks.push(figure(samples.biplot(stored, [0, 1])?.draw()?));
    }
    // T² and Q are not defined for every model: their picture then is not drawn.
    if let Ok(picture) = samples.monitoring(model) {
        blocks.push(figure(picture.draw()?));
    }
    Ok(Section { title: "Samples".into(), blocks })
}

fn of_features(model: &dyn Model) -> Result<Section, Failure> {
    let mut blocks = vec![figure(pictures::loadings(model)?.draw()?)];
    if model.n_components() > 1 && model.n_features() <= 500 {
        blocks.push(figure(pictures::heat_map(model)?.draw()?));
    }
    if model.as_pca().is_some() && model.n_components() > 1 && model.n_features() <= 60 {
        blocks.push(figure(pictures::circle(model, [0, 1])?.draw()?));
    }
    Ok(Section { title: "Features".into(), blocks })
}

fn trust(model: &dyn Model, summary: &Summary) -> Section {
    let mut blocks: Vec<Block> =
        summary.trust.lines().map(|line| Block::Text(line.into())).collect();
    if let Some(certificate) = model.certificate() {
        blocks.push(Block::Table(Box::new(certificate_table(model, certificate))));
    }
    Section { title: "Certificate".into(), blocks }
}

fn certificate_table(model: &dyn Model, certificate: &Certificate) -> Table {
    let names = crate::describe::component_names(model);
    let row = |(j, name): (usize, &String)| {
        let angle = certificate.angles[j];
        vec![
            name.clone(),
            format!("{:.1e}", certificate.residuals[j]),
            format!("{:.1e}", certificate.value_errors[j]),
            if angle < 1.0 { format!("{angle:.1e}") } else { "only with its group".into() },
        ]
    };
    let known = certificate.residuals.len().min(50);
    Table {
        caption: "Relative to the largest value; angles in radians.".into(),
        columns: vec![
            Column::text("component"),
            Column::number("residual", ""),
            Column::number("error of the value", ""),
            Column::number("angle", ""),
        ],
        rows: names.iter().enumerate().take(known).map(row).collect(),
    }
}

fn methods(stored: &StoredModel) -> Vec<String> {
    let options: Vec<String> =
        stored.origin.options.iter().map(|(name, value)| format!("{name} {value}")).collect();
    let mut words = vec![format!("Computed by the {}.", stored.model.plan())];
    if let Some(model) = stored.model.as_pca() {
        words.insert(0, prepared(model).into());
        let errors =
            model.sampling_errors().map_or("", |_| "; standard errors assume normal samples");
        let divisor = match stored.model.as_ppca() {
            Some(_) => "are maximum-likelihood estimates, with the divisor n",
            None => "have the divisor n − 1",
        };
        words.push(format!("Variances {divisor}{errors}."));
    }
    words.push(format!("Options: {}.", options.join(", ")));
    words
}

fn prepared(model: &PcaModel) -> &'static str {
    match (model.centers(), model.scale().is_some()) {
        (true, true) => "Features were centred and divided by their standard deviations.",
        (true, false) => "Features were centred.",
        (false, true) => "Features were divided by their standard deviations, not centred.",
        (false, false) => "Features were used as they are.",
    }
}
