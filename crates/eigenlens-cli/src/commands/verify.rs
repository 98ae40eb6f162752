//! `eigenlens verify`.

use crate::arguments::{Common, Verify};
use crate::describe::read_model;
use crate::failure::Failure;
use crate::input::{Input, Opened};
use crate::options::Bytes;
use crate::output::print;
use crate::progress::Progress;
use crate::reporter::Reporter;
use crate::target::{self, TargetArgs};
use eigenlens::{Method, Target, Verification, VerifyOptions, verify_model};
use eigenlens_io::{Budget, StoredModel, json};
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

pub fn run(args: &Verify, common: &Common, reporter: &Reporter) -> Result<(), Failure> {
    let stored = read_model(&args.model, common)?;
    let opened = Opened::for_model(&args.data.data, &stored, &args.reading, common, reporter)?;
    let budget = share(&opened, &stored, common)?;
    let progress = Progress::bytes(reporter, "reading");
    let tell = |done, total| progress.at(done, total);
    let input = opened.load(budget.table, &progress, &tell, reporter)?;
    let options = VerifyOptions {
        seed: common.seed.unwrap_or_else(fresh_seed),
        tolerance: args.tolerance,
        memory: budget.left(input.bytes()),
    };
    let found = check(&stored, &opened, &input, &options, common, reporter)?;
    input.tell_findings(reporter)?;
    if common.json {
        print(&format!("{}\n", json::to_json_lines(&found.to_value())))?;
    } else {
        print(&text(&found))?;
    }
    let mut failures = found.failures();
    let Some(first) = failures.next() else { return Ok(()) };
    let more = match failures.count() {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    Err(Failure::Check(format!("the model does not fit {}: {first}{more}", opened.name())))
}

/// Room for the check, and what it leaves for the table; refused before anything is read.
fn share(opened: &Opened, stored: &StoredModel, common: &Common) -> Result<Budget, Failure> {
    let budget = Budget::new(common.memory.map(|Bytes(bytes)| bytes))?;
    let Some(all) = budget.all else { return Ok(budget) };
    let (known, guess) = opened.n_samples();
    let mut shape = opened.shape();
    shape.n_samples = Some(known.unwrap_or(guess));
    let needed = stored.model.verification_memory(&shape);
    if needed > all {
        return Err(Failure::File(eigenlens_io::Error::Memory {
            what: "the check of this model".into(),
            needed: needed + Budget::RESERVED,
            budget: all + Budget::RESERVED,
        }));
    }
    Ok(budget.with_table_beside(opened.table_bytes(), needed))
}

fn check(
    stored: &StoredModel,
    opened: &Opened,
    input: &Input,
    options: &VerifyOptions,
    common: &Common,
    reporter: &Reporter,
) -> Result<Verification, Failure> {
    let data = input.data()?;
    if stored.preprocessing.term_weights.is_some() && data.shape().streamed {
        return Err(Failure::usage(
            "a model of weighted terms is verified with the table in memory only",
            "use a larger `--memory`",
        ));
    }
    let target = match Method::named(stored.model.method()) {
        Some(method) if method.supervised => recorded_target(stored, opened, common, reporter)?,
        _ => None,
    };
    verify_model(&*stored.model, &stored.preprocessing, &data, target.as_ref(), options)
        .map_err(|e| opened.explain(e, 0))
}

/// The target that a supervised model was fitted to: the columns that its file names.
fn recorded_target(
    stored: &StoredModel,
    opened: &Opened,
    common: &Common,
    reporter: &Reporter,
) -> Result<Option<Target>, Failure> {
    let args = TargetArgs::recorded(&stored.origin.options).ok_or_else(|| {
        Failure::usage(
            "the model does not say which column its target was",
            "verify it where it was made, which knows the target",
        )
    })?;
    target::read(Some(&args), opened, common, reporter)
}

/// A number that nobody could foresee: every table of this kind gets keys of its own from the system.
fn fresh_seed() -> u64 {
    RandomState::new().hash_one("a fresh seed")
}

/// Claims of a kind in one line; every one that does not hold in a line of its own.
fn text(found: &Verification) -> String {
    let mut lines: Vec<(String, String, usize)> = Vec::new();
    for check in found.checks.iter().filter(|check| check.holds) {
        let kind = without_numbers(&check.claim);
        match lines.iter_mut().find(|(known, ..)| *known == kind) {
            Some((_, _, count)) => *count += 1,
            None => lines.push((kind, check.claim.clone(), 1)),
        }
    }
    let mut text = String::new();
    for (kind, claim, count) in lines {
        text += &match count {
            1 => format!("holds        {claim}\n"),
            count => format!("holds        {kind} ({count} of them)\n"),
        };
    }
    for check in found.failures() {
        text += &format!("FALSE        {check}\n");
    }
    for skipped in &found.not_checked {
        text += &format!("not checked  {}: {}\n", skipped.claim, skipped.reason);
    }
    let verdict = if found.passed() { "passed" } else { "FAILED" };
    let (claims, rows) = (found.checks.len(), found.rows);
    let (seed, tolerance) = (found.seed, found.tolerance);
    text + &format!(
        "{verdict}: {claims} claims checked against {rows} rows (tolerance {tolerance:e}, seed {seed})\n"
    )
}

/// A claim about any component.
fn without_numbers(claim: &str) -> String {
    let mut kind = String::new();
    for c in claim.chars() {
        match c.is_ascii_digit() {
            true if kind.ends_with('…') => {}
            true => kind.push('…'),
            false => kind.push(c),
        }
    }
    kind
}
