//! How far a result can be trusted: the certificate as questions and answers.

use eigenlens::solver::{Evidence, NoneMissed};
use eigenlens::{Certificate, Model};

/// A question and its answer each, in plain words.
pub(super) fn sentences(model: &dyn Model) -> Vec<(String, String)> {
    let answers = match model.certificate() {
        Some(certificate) => of_certificate(model, certificate),
        None => vec![("How far is this checked?".into(), without_certificate(model))],
    };
    answers.into_iter().chain(memory(model)).collect()
}

fn of_certificate(model: &dyn Model, found: &Certificate) -> Vec<(String, String)> {
    let answers = [
        ("Are these the right components?", residual(found)),
        ("How exact are their directions?", angles(model, found)),
        ("Are all of them told apart?", groups(model, found)),
        ("Could one have been overlooked?", missed(found)),
        ("Are they at right angles?", orthogonality(found)),
    ];
    answers.into_iter().map(|(question, answer)| (question.to_string(), answer)).collect()
}

fn residual(found: &Certificate) -> String {
    let against = match found.evidence {
        Evidence::Data => "measured against the data themselves".into(),
        Evidence::Probes { failure } => {
            format!(
                "measured against the data by random probes, which fail with probability {failure:.0e}"
            )
        }
        Evidence::Matrix => "measured against the matrix that was given".into(),
        Evidence::Expected => {
            "measured against the covariance expected given what is observed".into()
        }
        Evidence::Operator => "measured against the operator that was made from the data".into(),
    };
    let residual = found.relative_residual();
    let verdict = if residual <= 1e-6 { "Yes" } else { "Only roughly" };
    format!("{verdict}: the largest residual is {residual:.1e} of the largest value, {against}.")
}

fn angles(model: &dyn Model, found: &Certificate) -> String {
    let names = model.component_names();
    let known = found.angles.iter().enumerate().filter(|(_, angle)| **angle < 1.0);
    let worst = known.max_by(|a, b| a.1.total_cmp(b.1));
    let condition = if found.is_conditional() { ", if no component was overlooked" } else { "" };
    match worst.and_then(|(j, angle)| Some((names.get(j)?, angle))) {
        Some((name, angle)) => format!(
            "Each that stands alone is within {angle:.1e} rad of the true one ({name} is the least certain){condition}."
        ),
        None => "None of them is identified alone.".into(),
    }
}

fn groups(model: &dyn Model, found: &Certificate) -> String {
    let names = model.component_names();
    if found.groups.is_empty() {
        return "Yes: numerically, each is identified by itself.".into();
    }
    let group = |(range, angle): (&std::ops::Range<usize>, &f64)| {
        let name = |j: usize| names.get(j).cloned().unwrap_or_default();
        let (first, last) = (name(range.start), name(range.end.saturating_sub(1)));
        match *angle < 1.0 {
            true => {
                format!("{first} to {last} are only known together (their span to {angle:.1e} rad)")
            }
            false => {
                format!("{first} to {last} are only known together with more that were not kept")
            }
        }
    };
    let groups: Vec<String> = found.groups.iter().zip(&found.group_angles).map(group).collect();
    format!("Not all: {}. Rotations within a group are arbitrary.", groups.join("; "))
}

fn missed(found: &Certificate) -> String {
    match found.none_missed {
        NoneMissed::Complete => "No: all values were computed.".into(),
        NoneMissed::Trace => {
            "No: what is left of the total is smaller than the last value kept.".into()
        }
        NoneMissed::Inertia => "No: a count of the values above the last one agrees.".into(),
        NoneMissed::Probabilistic { bound, failure } if bound < 1.0 => {
            format!("No, but for a probability of {failure:.0e}.")
        }
        NoneMissed::Probabilistic { bound, failure } => format!(
            "Possibly one up to {bound:.1} times the last value kept (larger ones are excluded but for a \
             probability of {failure:.0e})."
        ),
        NoneMissed::Disproved => "Yes: a count disagrees, something was missed.".into(),
    }
}

fn orthogonality(found: &Certificate) -> String {
    let off = found.orthogonality;
    let verdict = if off <= 1e-8 { "Yes" } else { "Only roughly" };
    format!("{verdict}: inner products are off by at most {off:.1e}.")
}

/// Methods that are no eigenvalue problem state what they go by in their own words.
fn without_certificate(model: &dyn Model) -> String {
    let trust = model.summary().trust;
    let lines: Vec<String> = trust
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .filter(|line| !line.is_empty())
        .collect();
    if lines.is_empty() { "This method states no certificate.".into() } else { lines.join("; ") }
}

fn memory(model: &dyn Model) -> Option<(String, String)> {
    Some(("What did it take?".into(), format!("The {}.", model.plan())))
}
