//! `eigenlens explore`.

use super::report::{default_page, table};
use crate::arguments::{Common, Explore, Include};
use crate::describe::read_model;
use crate::failure::Failure;
use crate::output::create;
use crate::pictures::request;
use crate::reporter::Reporter;
use eigenlens_io::{Fingerprint, StoredModel};
use eigenlens_views::{ExplorerOptions, Request, explorer};
use std::path::Path;

pub fn run(args: &Explore, common: &Common, reporter: &Reporter) -> Result<(), Failure> {
    let shown = &args.shown;
    let table = table(shown, "explore")?;
    if shown.data.is_empty() && (args.max_samples.is_some() || args.include.is_some()) {
        return Err(Failure::usage(
            "`--max-samples` and `--include` are about samples, and there is no table",
            format!("use `eigenlens explore {} DATA`", shown.model.display()),
        ));
    }
    let inputs = [&shown.data[..], std::slice::from_ref(&shown.model)].concat();
    let path = default_page(shown, "explorer.html");
    let mut output = create(&path, &inputs)?;
    let stored = read_model(&shown.model, common)?;
    let options = options(args, &stored)?;
    let request = request(&stored, shown.image_size)?.with_seed(common.seed());
    let work = |request: &Request| explorer(request, &options);
    let page = table.with_samples(request, &stored, common, reporter, work)?;
    for line in &page.left_out {
        reporter.info(format!("note: {line}"));
    }
    output.put(page.to_html().as_bytes())?;
    output.commit()?;
    if path.as_os_str() != "-" {
        reporter.info(format!("explorer: {}", path.display()));
    }
    Ok(())
}

fn options(args: &Explore, stored: &StoredModel) -> Result<ExplorerOptions, Failure> {
    let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let files = |paths: &[std::path::PathBuf]| -> Result<Vec<(String, String)>, Failure> {
        let mut rows = Vec::new();
        for path in paths {
            if let Some(found) = Fingerprint::of(path)? {
                let words = format!("{} bytes, SHA-256 {}", found.n_bytes, found.sha256);
                rows.push((found.name, words));
            }
        }
        Ok(rows)
    };
    let provenance = [
        ("Samples", files(&args.shown.data)?),
        ("Model", files(std::slice::from_ref(&args.shown.model))?),
        ("Fit", vec![("made by".into(), stored.origin.program.clone())]),
        ("Page", vec![("made by".into(), format!("eigenlens {}", env!("CARGO_PKG_VERSION")))]),
    ];
    Ok(ExplorerOptions {
        max_samples: args.max_samples,
        include_features: args.include.map(|include| include == Include::Features),
        provenance: (provenance.into_iter())
            .filter(|(_, rows)| !rows.is_empty())
            .map(|(heading, rows)| (heading.to_string(), rows))
            .collect(),
        options: stored.origin.options.clone(),
        subject: args.shown.data.first().and_then(|path| name(path)).unwrap_or_default(),
    })
}
