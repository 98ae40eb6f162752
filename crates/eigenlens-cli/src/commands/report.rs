//! `eigenlens report`.

use crate::arguments::{Common, Report};
use crate::describe::{components_table, read_model};
use crate::failure::Failure;
use crate::output::{create, default_path};
use crate::pictures::{self, request};
use crate::reporter::Reporter;
use eigenlens::{Certificate, Model, PcaModel, Summary};
use eigenlens_io::StoredModel;
use eigenlens_report::html::{self, Block};
use eigenlens_report::{Column, Table};
use eigenlens_views::{Error, PLOTS, Plot, Request, Section};

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
    let stored = read_model(&args.model, common)?;
    let request = request(&stored, args.image_size)?;
    let table = pictures::Table {
        paths: &args.data,
        reading: &args.reading,
        metadata: &args.metadata,
        color: args.color.as_ref(),
        names: args.names.as_ref(),
    };
    let work = |request: &Request| page(&stored, request);
    let page = table.with_samples(request, &stored, common, reporter, work)?;
    output.put(page.to_html().as_bytes())?;
    output.commit()?;
    if path.as_os_str() != "-" {
        reporter.info(format!("report: {}", path.display()));
    }
    Ok(())
}

fn page(stored: &StoredModel, request: &Request) -> Result<html::Report, Error> {
    let model = request.model();
    let summary = model.summary();
    let mut sections = Vec::new();
    for section in Section::ALL {
        let mut blocks = figures(section, request)?;
        if section == Section::Components {
            blocks.push(Block::Table(Box::new(components_table(model, &summary, 50))));
        }
        if !blocks.is_empty() {
            sections.push(html::Section { title: section.title().into(), blocks });
        }
    }
    sections.push(trust(model, &summary));
    Ok(html::Report {
        title: format!("{} of {} features", model.method(), model.n_features()),
        summary: facts(request, &summary),
        subtitle: summary.headline,
        warnings: model.warnings().iter().map(ToString::to_string).collect(),
        sections,
        methods: methods(stored),
        footer: format!("Made with {}.", stored.origin.program),
    })
}

/// The pictures of a section; words in place of one whose numbers cannot be drawn.
fn figures(section: Section, request: &Request) -> Result<Vec<Block>, Error> {
    let mut blocks = Vec::new();
    for plot in PLOTS.iter().filter(|plot| plot.is_in_report(section, request)) {
        blocks.extend(figure(plot, request)?);
    }
    Ok(blocks)
}

fn figure(plot: &Plot, request: &Request) -> Result<Option<Block>, Error> {
    match plot.draw(request) {
        Ok(drawing) => Ok(Some(Block::Figure(Box::new(drawing.picture), String::new()))),
        Err(error) if error.is_nothing_to_show() => Ok(None),
        Err(Error::Picture(error @ eigenlens_report::Error::NotFinite { .. })) => {
            Ok(Some(Block::Text(format!("There is no picture `{}`: {error}.", plot.name))))
        }
        Err(error) => Err(error),
    }
}

fn facts(request: &Request, summary: &Summary) -> Vec<(String, String)> {
    let model = request.model();
    let mut facts = vec![
        ("training samples", model.n_samples().map_or("not known".into(), |n| n.to_string())),
        ("features", model.n_features().to_string()),
        ("components", model.n_components().to_string()),
    ];
    facts.extend(summary.facts.iter().cloned());
    if let Some(certificate) = model.certificate() {
        facts.push(("largest residual", format!("{:.1e}", certificate.relative_residual())));
    }
    if let Some(samples) = request.samples() {
        facts.push(("samples shown", samples.len().to_string()));
    }
    facts.into_iter().map(|(name, value)| (name.to_string(), value)).collect()
}

fn trust(model: &dyn Model, summary: &Summary) -> html::Section {
    let mut blocks: Vec<Block> =
        summary.trust.lines().map(|line| Block::Text(line.into())).collect();
    if let Some(certificate) = model.certificate() {
        blocks.push(Block::Table(Box::new(certificate_table(model, certificate))));
    }
    html::Section { title: "Certificate".into(), blocks }
}

fn certificate_table(model: &dyn Model, certificate: &Certificate) -> Table {
    let names = model.component_names();
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
    if let Some(model) = stored.model.pca() {
        words.insert(0, prepared(model).into());
        let errors =
            model.sampling_errors().map_or("", |_| "; standard errors assume normal samples");
        let divisor = match stored.model.density() {
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
