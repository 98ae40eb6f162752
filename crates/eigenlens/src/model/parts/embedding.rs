//! A spectral embedding taken apart and put together.

use super::{Parts, Value, embedding_map, records, wrong};
use crate::error::Result;
use crate::graph::{Neighborhood, Quality};
use crate::model::NegativePart;
use crate::model::embedding::{Distances, EmbeddingMap, EmbeddingModel, EmbeddingParts};

/// Every method whose model is an embedding.
const METHODS: [&str; 4] = ["mds", "isomap", "laplacian", "lle"];

/// Eigenvalues are in units of 4 to this power, where they have one.
const EXPONENT: &str = "eigenvalue_exponent";

const ARRAYS: [&str; 12] = [
    "coordinates",
    "eigenvalues",
    "signs",
    "points",
    "means",
    "projector",
    "graph.starts",
    "graph.columns",
    "graph.lengths",
    "landmarks",
    "degrees",
    "reach",
];

impl EmbeddingModel {
    /// Everything the model is made of. [`EmbeddingModel::from_parts`] gives the same model back.
    pub fn to_parts(&self) -> Parts {
        let all = self.parts();
        let mut parts = Parts::new(all.core.method);
        parts.put_matrix("coordinates", &all.coordinates);
        parts.put("eigenvalues", &all.eigenvalues);
        let map = embedding_map::put(&mut parts, &all.map);
        records::put(&mut parts, &all.certificate, &all.convergence, &all.core.plan);
        records::put_core(&mut parts, &all.core);
        // Only numbers beyond the usual have a unit: other files are what they always were.
        if all.exponent != 0 {
            let exponent = Value::Integer(i64::from(all.exponent));
            parts.description.insert(EXPONENT.into(), exponent);
        }
        let negative = all.negative.map(|part| {
            Value::map([
                ("share", Value::from(part.share)),
                ("smallest", part.smallest.into()),
                ("complete", part.complete.into()),
            ])
        });
        parts.description.extend(
            [
                ("map", Value::map(map)),
                ("rank", all.rank.into()),
                ("trace", all.trace.into()),
                ("negative_part", negative.unwrap_or(Value::Null)),
                ("quality", quality(&all.quality)),
                ("neighborhood", neighborhood(all.neighborhood)),
                ("n_bridges", all.bridges.into()),
                ("tolerance", all.tolerance.into()),
            ]
            .map(|(name, value)| (name.to_string(), value)),
        );
        parts
    }

    /// Puts a model together from its parts, which may come from anywhere: names, shapes,
    /// finiteness, order and every node number are checked first.
    pub fn from_parts(parts: &Parts) -> Result<EmbeddingModel> {
        let parts = &*parts.upgraded()?;
        let method = parts.method_of(&METHODS)?;
        let entries = parts.entries();
        let (linear, own) = embedding_map::split(parts);
        own.check_names(&[&ARRAYS[..], &records::ARRAYS[..]].concat())?;
        let coordinates = parts.matrix("coordinates")?;
        let (n, k) = coordinates.dim();
        if n < 2 || k == 0 {
            return wrong("coordinates", format!("has the shape {n} × {k}"));
        }
        let rank = entries.count("rank")?;
        if rank > k {
            return entries.must_be("rank", "at most the number of components");
        }
        let tolerance = entries.number("tolerance")?;
        if !(tolerance > 0.0 && tolerance < 1.0) {
            return entries.must_be("tolerance", "between 0 and 1");
        }
        let neighborhood = read_neighborhood(parts)?;
        let map = embedding_map::read(parts, &linear, n, k)?;
        let on_graph = match &map {
            EmbeddingMap::Linear { .. } => false,
            EmbeddingMap::Distances(map) => matches!(map.from, Distances::Geodesic { .. }),
            EmbeddingMap::Laplacian(map) => map.affinity.is_of_neighbors(),
            EmbeddingMap::Lle(_) => true,
        };
        if on_graph != neighborhood.is_some() {
            return entries.must_be("neighborhood", "that of a graph, where there is a graph");
        }
        Ok(EmbeddingModel::assemble(EmbeddingParts {
            core: records::core(parts, method, Some(n as f64), map.n_features())?,
            map,
            exponent: read_exponent(parts)?,
            eigenvalues: eigenvalues(parts, k, method)?,
            rank,
            trace: entries.optional_number("trace")?,
            negative: read_negative(parts)?,
            quality: read_quality(parts, n)?,
            neighborhood,
            bridges: entries.count("n_bridges")?,
            certificate: records::certificate(parts, k)?,
            convergence: records::convergence(parts)?,
            tolerance,
            threads: None,
            coordinates,
        }))
    }
}

fn read_exponent(parts: &Parts) -> Result<i32> {
    if !parts.description.contains_key(EXPONENT) {
        return Ok(0);
    }
    embedding_map::exponent_in(&parts.entries(), EXPONENT)
}

fn eigenvalues(parts: &Parts, k: usize, method: &str) -> Result<Vec<f64>> {
    let values = parts.vector("eigenvalues", k)?;
    let falling = values.windows(2).all(|pair| pair[0] >= pair[1]);
    let rising = values.windows(2).all(|pair| pair[0] <= pair[1]);
    let fine = if matches!(method, "mds" | "isomap") { falling } else { rising };
    if fine { Ok(values) } else { wrong("eigenvalues", "is not in order".into()) }
}

fn quality(of: &Quality) -> Value {
    Value::map([
        ("trustworthiness", Value::from(of.trustworthiness)),
        ("continuity", of.continuity.into()),
        ("n_neighbors", of.n_neighbors.into()),
        ("n_judged", of.n_judged.into()),
        ("stress", of.stress.into()),
        ("residual_variance", of.residual_variance.into()),
    ])
}

fn read_quality(parts: &Parts, n: usize) -> Result<Quality> {
    let entries = parts.entries().map("quality")?;
    let n_judged = entries.count("n_judged")?;
    if n_judged > n {
        return entries.must_be("n_judged", "at most the number of samples");
    }
    Ok(Quality {
        trustworthiness: entries.number("trustworthiness")?,
        continuity: entries.number("continuity")?,
        n_neighbors: entries.count("n_neighbors")?,
        n_judged,
        stress: entries.optional_number("stress")?,
        residual_variance: entries.optional_number("residual_variance")?,
    })
}

fn neighborhood(of: Option<Neighborhood>) -> Value {
    match of {
        None => Value::Null,
        Some(Neighborhood::Nearest(k)) => Value::map([("nearest", Value::from(k))]),
        Some(Neighborhood::Radius(r)) => Value::map([("radius", Value::from(r))]),
    }
}

fn read_neighborhood(parts: &Parts) -> Result<Option<Neighborhood>> {
    let entries = parts.entries();
    let Value::Map(map) = entries.get("neighborhood")? else { return Ok(None) };
    let entries = entries.map("neighborhood")?;
    let found = if map.contains_key("nearest") {
        Neighborhood::Nearest(entries.count("nearest")?)
    } else {
        Neighborhood::Radius(entries.number("radius")?)
    };
    let n = parts.matrix("coordinates")?.nrows();
    match found.check(n) {
        Ok(()) => Ok(Some(found)),
        Err(e) => wrong("neighborhood", format!("cannot be right: {e}")),
    }
}

fn read_negative(parts: &Parts) -> Result<Option<NegativePart>> {
    let entries = parts.entries();
    if let Value::Null = entries.get("negative_part")? {
        return Ok(None);
    }
    let entries = entries.map("negative_part")?;
    let share = entries.number("share")?;
    if !(0.0..=1.0).contains(&share) {
        return entries.must_be("share", "between 0 and 1");
    }
    let (smallest, complete) = (entries.number("smallest")?, entries.flag("complete")?);
    Ok(Some(NegativePart { share, smallest, complete }))
}
