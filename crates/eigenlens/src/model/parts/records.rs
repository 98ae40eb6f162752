//! What a fit wrote down about itself: certificate, convergence, plan.

use super::{Entries, Parts, Value, missing_report, warnings, wrong};
use crate::error::Result;
use crate::model::ModelCore;
use crate::plan::{Plan, Route};
use crate::solver::{Certificate, Convergence, Evidence, NoneMissed};
use std::ops::Range;

/// The array of a convergence record.
pub(crate) const CONVERGENCE: &str = "convergence.residuals";

pub(crate) const ARRAYS: [&str; 5] = [
    "certificate.residuals",
    "certificate.value_errors",
    "certificate.angles",
    "certificate.group_angles",
    CONVERGENCE,
];

/// What every model knows of its making, but for the plan, which stands beside the certificate, and the number of
/// samples, which is whole for some methods.
pub(crate) fn put_core(parts: &mut Parts, core: &ModelCore) {
    warnings::put(parts, &core.warnings);
    missing_report::put(parts, core.missing.as_ref());
    let names = core.feature_names.as_ref().map_or(Value::Null, Value::list);
    parts.description.insert("feature_names".into(), names);
}

/// The same of a model of `d` features.
pub(crate) fn core(
    parts: &Parts,
    method: &'static str,
    n_samples: Option<f64>,
    d: usize,
) -> Result<ModelCore> {
    Ok(ModelCore {
        method,
        n_samples,
        feature_names: match parts.entries().get("feature_names")? {
            Value::Null => None,
            _ => Some(feature_names(parts, d)?),
        },
        plan: plan(parts)?,
        warnings: warnings::read(parts)?,
        missing: missing_report::read(parts)?,
    })
}

pub(crate) fn put(parts: &mut Parts, of: &Certificate, how: &Convergence, plan: &Plan) {
    let vectors = [&of.residuals, &of.value_errors, &of.angles, &of.group_angles];
    for (name, values) in ARRAYS.iter().zip(vectors) {
        put_bounds(parts, name, values);
    }
    let groups = of.groups.iter().map(|g| Value::list([g.start, g.end]));
    let certificate = Value::map([
        ("evidence", evidence(of.evidence)),
        ("groups", Value::list(groups)),
        ("orthogonality", of.orthogonality.into()),
        ("rank", of.rank.into()),
        ("none_missed", none_missed(of.none_missed)),
    ]);
    parts.description.insert("certificate".to_string(), certificate);
    put_run(parts, how, plan);
}

/// What models without a certificate of eigenpairs store: convergence and plan.
pub(crate) fn put_run(parts: &mut Parts, how: &Convergence, plan: &Plan) {
    put_bounds(parts, CONVERGENCE, &how.residuals);
    let convergence = Value::map([
        ("converged", Value::from(how.converged)),
        ("iterations", how.iterations.into()),
        ("operator_applications", how.operator_applications.into()),
    ]);
    parts.description.insert("convergence".into(), convergence);
    put_plan(parts, plan);
}

pub(crate) fn put_plan(parts: &mut Parts, plan: &Plan) {
    let plan = Value::map([
        ("route", Value::from(plan.route.to_string())),
        ("reason", Value::from(&plan.reason)),
        ("passes", plan.passes.into()),
        ("peak_memory", plan.peak_memory.into()),
    ]);
    parts.description.insert("plan".into(), plan);
}

fn put_bounds(parts: &mut Parts, name: &str, values: &[f64]) {
    // A bound that could not be computed bounds nothing.
    let known: Vec<f64> =
        values.iter().map(|v| if v.is_nan() { f64::INFINITY } else { *v }).collect();
    parts.put(name, &known);
}

/// The certificate of k components.
pub(crate) fn certificate(parts: &Parts, k: usize) -> Result<Certificate> {
    let entries = parts.entries().map("certificate")?;
    let groups = groups(&entries, k)?;
    let rank = entries.count("rank")?;
    if rank > k {
        return entries.must_be("rank", "at most the number of components");
    }
    let vector = |name: &str, length: usize| {
        let values = parts.bounds(name, length)?;
        match values.iter().find(|v| **v < 0.0) {
            Some(value) => wrong(name, format!("holds {value}, but a bound is not negative")),
            None => Ok(values),
        }
    };
    Ok(Certificate {
        evidence: read_evidence(&entries.map("evidence")?)?,
        residuals: vector(ARRAYS[0], k)?,
        value_errors: vector(ARRAYS[1], k)?,
        angles: vector(ARRAYS[2], k)?,
        group_angles: vector(ARRAYS[3], groups.len())?,
        groups,
        orthogonality: entries.optional_number("orthogonality")?.unwrap_or(f64::INFINITY),
        rank,
        none_missed: read_none_missed(&entries.map("none_missed")?)?,
    })
}

pub(crate) fn convergence(parts: &Parts) -> Result<Convergence> {
    let entries = parts.entries().map("convergence")?;
    Ok(Convergence {
        converged: entries.flag("converged")?,
        residuals: parts.any_length(CONVERGENCE)?,
        iterations: entries.count("iterations")?,
        operator_applications: entries.count("operator_applications")?,
    })
}

pub(crate) fn plan(parts: &Parts) -> Result<Plan> {
    let entries = parts.entries().map("plan")?;
    let name = entries.text("route")?;
    let Some(route) = Route::ALL.into_iter().find(|r| r.to_string() == name) else {
        return entries.must_be("route", "a route");
    };
    let (reason, passes) = (entries.text("reason")?.into(), entries.count("passes")?);
    Ok(Plan::new(route, reason, passes, entries.count("peak_memory")? as u64))
}

fn groups(entries: &Entries, k: usize) -> Result<Vec<Range<usize>>> {
    let mut groups: Vec<Range<usize>> = Vec::new();
    for group in entries.list("groups")? {
        let ends = match group {
            Value::List(ends) => match ends[..] {
                [Value::Integer(start), Value::Integer(end)] => Some((start, end)),
                _ => None,
            },
            _ => None,
        };
        let after = groups.last().map_or(0, |g| g.end);
        let range = ends.and_then(|(start, end)| {
            Some(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
        });
        match range {
            Some(g) if after <= g.start && g.start < g.end && g.end <= k => groups.push(g),
            _ => return entries.must_be("groups", "rising ranges of components"),
        }
    }
    Ok(groups)
}

fn evidence(of: Evidence) -> Value {
    match of {
        Evidence::Data => Value::map([("kind", Value::from("data"))]),
        Evidence::Probes { failure } => {
            Value::map([("kind", Value::from("probes")), ("failure", failure.into())])
        }
        Evidence::Matrix => Value::map([("kind", Value::from("matrix"))]),
        Evidence::Expected => Value::map([("kind", Value::from("expected"))]),
        Evidence::Operator => Value::map([("kind", Value::from("operator"))]),
    }
}

fn read_evidence(entries: &Entries) -> Result<Evidence> {
    match entries.text("kind")? {
        "data" => Ok(Evidence::Data),
        "probes" => Ok(Evidence::Probes { failure: entries.number("failure")? }),
        "matrix" => Ok(Evidence::Matrix),
        "expected" => Ok(Evidence::Expected),
        "operator" => Ok(Evidence::Operator),
        _ => entries.must_be("kind", "data, probes, matrix, expected or operator"),
    }
}

fn none_missed(of: NoneMissed) -> Value {
    let kind = |name: &str| Value::map([("kind", Value::from(name))]);
    match of {
        NoneMissed::Complete => kind("complete"),
        NoneMissed::Trace => kind("trace"),
        NoneMissed::Inertia => kind("inertia"),
        // An infinite bound is none: it is stored as null.
        NoneMissed::Probabilistic { bound, failure } => Value::map([
            ("kind", Value::from("probabilistic")),
            ("bound", bound.into()),
            ("failure", failure.into()),
        ]),
        NoneMissed::Disproved => kind("disproved"),
    }
}

fn read_none_missed(entries: &Entries) -> Result<NoneMissed> {
    Ok(match entries.text("kind")? {
        "complete" => NoneMissed::Complete,
        "trace" => NoneMissed::Trace,
        "inertia" => NoneMissed::Inertia,
        "probabilistic" => NoneMissed::Probabilistic {
            bound: entries.optional_number("bound")?.unwrap_or(f64::INFINITY),
            failure: entries.number("failure")?,
        },
        "disproved" => NoneMissed::Disproved,
        _ => return entries.must_be("kind", "a way to exclude missed components"),
    })
}

fn feature_names(parts: &Parts, d: usize) -> Result<Vec<String>> {
    let names = parts.entries().texts("feature_names")?;
    if names.len() != d {
        let reason = format!("holds {} names, but there are {d} features", names.len());
        return wrong("feature_names", reason);
    }
    Ok(names)
}
