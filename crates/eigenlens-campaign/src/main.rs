//! Runs the campaign and says what came of it; see `cargo xtask campaign`.

use eigenlens_campaign::{FAMILIES, Family, Settings, find, run, run_case};
use std::error::Error;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::time::Instant;

const USAGE: &str = "\
usage: eigenlens-campaign [--fits N] [--family NAME [--case INDEX]] [--seed S] [--json FILE]
       eigenlens-campaign --list
";

fn main() -> ExitCode {
    match execute(std::env::args().skip(1).collect()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprint!("error: {error}\n\n{USAGE}");
            ExitCode::from(64)
        }
    }
}

/// Whether every claim was true.
fn execute(arguments: Vec<String>) -> Result<bool, Box<dyn Error>> {
    let mut settings = Settings { fits: 5000, family: None, seed: 0 };
    let (mut index, mut json) = (None, None);
    let mut arguments = arguments.into_iter();
    while let Some(option) = arguments.next() {
        if option == "--list" {
            FAMILIES.iter().for_each(|family| println!("{:<18}{}", family.name, family.about));
            return Ok(true);
        }
        let value = arguments
            .next()
            .ok_or_else(|| format!("`{option}` is not known, or lacks its value"))?;
        match option.as_str() {
            "--fits" => settings.fits = value.parse()?,
            "--family" => {
                let found = find(&value).ok_or_else(|| format!("`{value}` is not a family"))?;
                settings.family = Some(found);
            }
            "--case" => index = Some(value.parse()?),
            "--seed" => settings.seed = value.parse()?,
            "--json" => json = Some(value),
            _ => return Err(format!("`{option}` is not an option").into()),
        }
    }
    match (settings.family, index) {
        (Some(family), Some(index)) => Ok(one_case(family, index, settings.seed)),
        (None, Some(_)) => Err("`--case` is a case of a family".into()),
        (_, None) => campaign(&settings, json.as_deref()),
    }
}

/// Every claim of one case.
fn one_case(family: &'static Family, index: usize, seed: u64) -> bool {
    let judged = match run_case(family, index, seed).judged {
        Ok(judged) => judged,
        Err(why) => {
            println!("{why}");
            return false;
        }
    };
    println!("{}", judged.what);
    for check in &judged.checks {
        let (claim, at) = (check.claim.name(), check.component);
        let wrong = if check.is_false() { "  FALSE" } else { "" };
        println!(
            "{claim:<14}{at:>3}  claimed {:.3e}  true {:.3e}{wrong}",
            check.bound, check.found
        );
    }
    !judged.checks.iter().any(|check| check.is_failure())
}

fn campaign(settings: &Settings, json: Option<&str>) -> Result<bool, Box<dyn Error>> {
    let file = json.map(std::fs::File::create).transpose()?;
    let start = Instant::now();
    let report = run(settings, &|done, of| {
        if std::io::stderr().is_terminal() {
            eprint!("\r{done} of {of} fits, {:.0} s ", start.elapsed().as_secs_f64());
        } else if done.is_multiple_of(500) {
            eprintln!("{done} of {of} fits, {:.0} s", start.elapsed().as_secs_f64());
        }
    });
    println!("\n{report}");
    let seconds = start.elapsed().as_secs_f64();
    let verdict = if report.passed() { "every claim is true" } else { "there are FALSE claims" };
    println!("{} fits in {seconds:.0} s, seed {}: {verdict}", report.fits(), settings.seed);
    if let Some(mut file) = file {
        file.write_all(report.json().as_bytes())?;
    }
    Ok(report.passed())
}
