//! `eigenlens report`.

use crate::arguments::{Common, Report};
use crate::describe::read_model;
use crate::failure::Failure;
use crate::output::{create, default_path};
use crate::pictures::{self, request};
use crate::reporter::Reporter;
use eigenlens::{Model, Summary};
use eigenlens_io::StoredModel;
use eigenlens_report::html::{self, Block};
use eigenlens_views::{Error, PLOTS, Plot, Request, Section, words};
use std::path::PathBuf;

pub fn run(args: &Report, common: &Common, reporter: &Reporter) -> Result<(), Failure> {
    let table = table(args, "report")?;
    let inputs = [&args.data[..], std::slice::from_ref(&args.model)].concat();
    let path = default_page(args, "report.html");
    let mut output = create(&path, &inputs)?;
    let stored = read_model(&args.model, common)?;
    let request = request(&stored, args.image_size)?;
    let work = |request: &Request| page(&stored, request);
    let page = table.with_samples(request, &stored, common, reporter, work)?;
    output.put(page.to_html().as_bytes())?;
    output.commit()?;
    if path.as_os_str() != "-" {
        reporter.info(format!("report: {}", path.display()));
    }
    Ok(())
}

/// The samples of a page; refuses what is said about samples where there are none.
pub fn table<'a>(args: &'a Report, command: &str) -> Result<pictures::Table<'a>, Failure> {
    if args.data.is_empty() && (args.color.is_some() || args.names.is_some()) {
        return Err(Failure::usage(
            "`--color` and `--names` are about samples, and there is no table",
            format!("use `eigenlens {command} {} DATA`", args.model.display()),
        ));
    }
    Ok(pictures::Table {
        paths: &args.data,
        reading: &args.reading,
        metadata: &args.metadata,
        color: args.color.as_ref(),
        names: args.names.as_ref(),
    })
}

/// Where a page goes.
pub fn default_page(args: &Report, ending: &str) -> PathBuf {
    args.output.clone().unwrap_or_else(|| default_path(&args.model, ending))
}

fn page(stored: &StoredModel, request: &Request) -> Result<html::Report, Error> {
    let model = request.model();
    let summary = model.summary();
    let mut sections = Vec::new();
    for section in Section::ALL {
        let mut blocks = figures(section, request)?;
        if section == Section::Components {
            blocks.push(Block::Table(Box::new(words::components_table(model, &summary, 50))));
        }
        if !blocks.is_empty() {
            sections.push(html::Section { title: section.title().into(), blocks });
        }
    }
    sections.push(trust(model, &summary));
    Ok(html::Report {
        title: format!("{} of {} features", model.method(), model.n_features()),
        summary: words::facts(request, &summary),
        subtitle: summary.headline,
        warnings: model.warnings().iter().map(ToString::to_string).collect(),
        sections,
        methods: words::methods(model, &stored.origin.options),
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

fn trust(model: &dyn Model, summary: &Summary) -> html::Section {
    let mut blocks: Vec<Block> =
        summary.trust.lines().map(|line| Block::Text(line.into())).collect();
    if let Some(certificate) = model.certificate() {
        blocks.push(Block::Table(Box::new(words::certificate_table(model, certificate))));
    }
    html::Section { title: "Certificate".into(), blocks }
}
