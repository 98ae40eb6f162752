//! What places new samples in an embedding, taken apart and put together.

use super::{Entries, Parts, Value, linear, wrong};
use crate::error::Result;
use crate::graph::{Metric, Network, Points};
use crate::model::PcaModel;
use crate::model::embedding::{
    Affinity, DistanceMap, Distances, EmbeddingMap, LaplacianMap, LleMap, LleVariant,
    Normalization, Samples,
};
use ndarray::Array2;

/// The arrays of the linear map behind Euclidean MDS carry this before their name.
const LINEAR: &str = "linear.";

/// Stores the arrays of a map; returns its description.
pub(super) fn put(parts: &mut Parts, map: &EmbeddingMap) -> Vec<(&'static str, Value)> {
    match map {
        EmbeddingMap::Linear { pca, signs } => {
            parts.put("signs", signs);
            put_linear(parts, pca)
        }
        EmbeddingMap::Distances(map) => put_distances(parts, map),
        EmbeddingMap::Laplacian(map) => {
            map.points().into_iter().for_each(|points| put_points(parts, points));
            parts.put("degrees", &map.degrees);
            if map.affinity.is_of_neighbors() {
                parts.put("reach", &map.reach);
            }
            let samples = match map.samples {
                Samples::Points(_) => "points",
                Samples::Affinities => "affinities",
                Samples::Distances => "distances",
            };
            vec![
                ("kind", Value::from("laplacian")),
                ("samples", samples.into()),
                ("exponent", exponent(map.points().map_or(0, Points::exponent))),
                ("affinity", map.affinity.name().into()),
                ("gamma", map.affinity.gamma().into()),
                ("normalization", map.normalization.name().into()),
            ]
        }
        EmbeddingMap::Lle(map) => {
            put_points(parts, &map.points);
            vec![
                ("kind", Value::from("lle")),
                ("exponent", exponent(map.points.exponent())),
                ("variant", map.variant.name().into()),
                ("regularization", map.regularization.into()),
            ]
        }
    }
}

/// The map of k components of n samples; `linear` holds the parts of a linear one.
pub(super) fn read(parts: &Parts, linear: &Parts, n: usize, k: usize) -> Result<EmbeddingMap> {
    Ok(match parts.entries().map("map")?.text("kind")? {
        "linear" => {
            let pca = Box::new(read_linear(linear, k)?);
            EmbeddingMap::Linear { signs: read_signs(parts, pca.n_components())?, pca }
        }
        "laplacian" => EmbeddingMap::Laplacian(read_laplacian(parts, n)?),
        "lle" => EmbeddingMap::Lle(read_lle(parts, n)?),
        _ => EmbeddingMap::Distances(read_distances(parts, n, k)?),
    })
}

/// The parts of the linear map, and all others.
pub(super) fn split(parts: &Parts) -> (Parts, Parts) {
    let (mut linear, mut own) = (Parts::new("pca"), parts.clone());
    own.arrays.clear();
    for (name, array) in &parts.arrays {
        match name.strip_prefix(LINEAR) {
            Some(name) => linear.arrays.insert(name.into(), array.clone()),
            None => own.arrays.insert(name.clone(), array.clone()),
        };
    }
    if let Some(Value::Map(map)) = parts.description.get("map")
        && let Some(Value::Map(description)) = map.get("linear")
    {
        linear.description = description.clone();
    }
    (linear, own)
}

fn put_linear(parts: &mut Parts, pca: &PcaModel) -> Vec<(&'static str, Value)> {
    let linear = pca.to_parts();
    for (name, array) in linear.arrays {
        parts.arrays.insert(format!("{LINEAR}{name}"), array);
    }
    vec![("kind", Value::from("linear")), ("linear", Value::Map(linear.description))]
}

fn put_distances(parts: &mut Parts, map: &DistanceMap) -> Vec<(&'static str, Value)> {
    parts.put("means", &map.means);
    parts.put_matrix("projector", &map.projector);
    let unit = ("exponent", exponent(map.exponent()));
    match &map.from {
        Distances::Given { .. } => vec![("kind", Value::from("given")), unit],
        Distances::Metric { points, metric } => {
            put_points(parts, points);
            let unit = ("exponent", exponent(points.exponent()));
            vec![("kind", Value::from("metric")), unit, ("metric", metric.name().into())]
        }
        Distances::Geodesic { points, network, landmarks } => {
            put_points(parts, points);
            parts.put_whole("graph.starts", network.starts.iter().map(|&s| s as i64));
            parts.put_whole("graph.columns", network.columns.iter().map(|&c| i64::from(c)));
            parts.put("graph.lengths", &network.lengths);
            let landmarks = landmarks.as_deref().unwrap_or_default();
            parts.put_whole("landmarks", landmarks.iter().map(|&i| i64::from(i)));
            vec![("kind", Value::from("geodesic")), unit]
        }
    }
}

fn put_points(parts: &mut Parts, points: &Points) {
    parts.put_matrix("points", &points.view().to_owned());
}

fn exponent(of: i32) -> Value {
    Value::Integer(i64::from(of))
}

fn read_linear(parts: &Parts, k: usize) -> Result<PcaModel> {
    let pca = PcaModel::from_parts(parts)?;
    if pca.n_components() > k {
        return wrong("linear.components", format!("has more than {k} rows"));
    }
    Ok(pca)
}

fn read_signs(parts: &Parts, k: usize) -> Result<Vec<f64>> {
    let signs = parts.vector("signs", k)?;
    match signs.iter().find(|s| s.abs() != 1.0) {
        Some(sign) => wrong("signs", format!("holds {sign}, but a sign is 1 or -1")),
        None => Ok(signs),
    }
}

fn read_exponent(parts: &Parts) -> Result<i32> {
    exponent_in(&parts.entries().map("map")?, "exponent")
}

/// The power of two of a unit.
pub(super) fn exponent_in(entries: &Entries, name: &str) -> Result<i32> {
    let exponent = entries.integer(name)?;
    if !(-1000..=1000).contains(&exponent) {
        return entries.must_be(name, "between -1000 and 1000");
    }
    Ok(exponent as i32)
}

fn read_points(parts: &Parts, n: usize) -> Result<Points> {
    let rows = parts.matrix("points")?;
    if rows.nrows() != n {
        return wrong("points", format!("has {} rows, but there are {n} samples", rows.nrows()));
    }
    Ok(Points::from_stored(rows, read_exponent(parts)?))
}

fn read_distances(parts: &Parts, n: usize, k: usize) -> Result<DistanceMap> {
    let entries = parts.entries().map("map")?;
    let from = match entries.text("kind")? {
        "given" => Distances::Given { exponent: read_exponent(parts)? },
        "metric" => {
            let name = entries.text("metric")?;
            let Some((_, metric)) = Metric::NAMES.into_iter().find(|(known, _)| *known == name)
            else {
                return entries.must_be("metric", "a metric");
            };
            Distances::Metric { points: read_points(parts, n)?, metric }
        }
        "geodesic" => Distances::Geodesic {
            points: read_points(parts, n)?,
            network: read_network(parts, n)?,
            landmarks: read_landmarks(parts, n)?,
        },
        _ => return entries.must_be("kind", "a way to place new samples"),
    };
    let m = match &from {
        Distances::Geodesic { landmarks: Some(landmarks), .. } => landmarks.len(),
        _ => n,
    };
    let projector: Array2<f64> = parts.matrix("projector")?;
    if projector.dim() != (m, k) {
        let (rows, columns) = projector.dim();
        return wrong(
            "projector",
            format!("has the shape {rows} × {columns}, but {m} × {k} belongs there"),
        );
    }
    Ok(DistanceMap { from, means: linear::not_negative(parts, "means", m)?, projector })
}

fn read_network(parts: &Parts, n: usize) -> Result<Network> {
    let starts: Vec<usize> = parts
        .whole("graph.starts")?
        .iter()
        .map(|&s| usize::try_from(s).unwrap_or(usize::MAX))
        .collect();
    let columns = parts.whole("graph.columns")?;
    let rising = starts.windows(2).all(|pair| pair[0] <= pair[1]);
    if starts.len() != n + 1 || starts[0] != 0 || starts[n] != columns.len() || !rising {
        return wrong("graph.starts", "must rise from 0 to the number of edges".into());
    }
    let lengths = linear::not_negative(parts, "graph.lengths", columns.len())?;
    if columns.iter().any(|&c| c < 0 || c >= n as i64) {
        return wrong("graph.columns", format!("must stay below {n}"));
    }
    let columns: Vec<u32> = columns.iter().map(|&c| c as u32).collect();
    let network = Network { starts, columns, lengths };
    if !network.is_undirected() {
        return wrong(
            "graph.columns",
            "must rise in every row and hold both ways of an edge".into(),
        );
    }
    if network.parts().sizes.len() > 1 {
        return wrong("graph.columns", "must hold a graph in one piece".into());
    }
    Ok(network)
}

fn read_landmarks(parts: &Parts, n: usize) -> Result<Option<Vec<u32>>> {
    if !parts.has("landmarks") {
        return Ok(None);
    }
    let found = parts.whole("landmarks")?;
    let inside = found.iter().all(|&i| (0..n as i64).contains(&i));
    if !inside || found.windows(2).any(|pair| pair[0] >= pair[1]) {
        return wrong("landmarks", format!("must rise and stay below {n}"));
    }
    Ok(Some(found.iter().map(|&i| i as u32).collect()))
}

fn read_laplacian(parts: &Parts, n: usize) -> Result<LaplacianMap> {
    let entries = parts.entries().map("map")?;
    let name = entries.text("normalization")?;
    let known = Normalization::NAMES.into_iter().find(|(known, _)| *known == name);
    let Some((_, normalization)) = known else {
        return entries.must_be("normalization", "a normalization");
    };
    let gamma = entries.optional_number("gamma")?;
    if gamma.is_some_and(|gamma| gamma <= 0.0) {
        return entries.must_be("gamma", "above 0");
    }
    let affinity = read_affinity(&entries, gamma)?;
    let samples = match text_or(&entries, "samples", "points")? {
        "points" => Samples::Points(read_points(parts, n)?),
        "affinities" => Samples::Affinities,
        "distances" => Samples::Distances,
        _ => return entries.must_be("samples", "points, affinities or distances"),
    };
    let given = matches!(samples, Samples::Affinities);
    if given != (affinity == Affinity::Precomputed) {
        return entries.must_be("samples", "what the affinity is of");
    }
    if matches!(samples, Samples::Distances) && !affinity.is_of_neighbors() {
        return entries.must_be("affinity", "that of neighbours, where there are distances");
    }
    let of_neighbors = affinity.is_of_neighbors();
    let reach = if of_neighbors { linear::not_negative(parts, "reach", n)? } else { Vec::new() };
    let degrees = linear::not_negative(parts, "degrees", n)?;
    Ok(LaplacianMap { samples, affinity, normalization, degrees, reach })
}

/// Files from before there were other kinds say only whether there is a γ.
fn read_affinity(entries: &Entries, gamma: Option<f64>) -> Result<Affinity> {
    let usual = if gamma.is_some() { "heat" } else { "binary" };
    let affinity = Affinity::named(text_or(entries, "affinity", usual)?, gamma);
    match affinity {
        Some(Affinity::Heat { gamma: None } | Affinity::Rbf { gamma: None }) => {
            entries.must_be("gamma", "a number")
        }
        Some(affinity) => Ok(affinity),
        None => entries.must_be("affinity", "a kind of affinity, with a gamma if it has one"),
    }
}

/// A text that older files do not have.
fn text_or<'a>(entries: &Entries<'a>, name: &str, usual: &'a str) -> Result<&'a str> {
    if entries.get(name).is_err() { Ok(usual) } else { entries.text(name) }
}

fn read_lle(parts: &Parts, n: usize) -> Result<LleMap> {
    let entries = parts.entries().map("map")?;
    let regularization = entries.number("regularization")?;
    if regularization <= 0.0 {
        return entries.must_be("regularization", "above 0");
    }
    Ok(LleMap { points: read_points(parts, n)?, variant: read_variant(&entries)?, regularization })
}

/// The standard one in files from before there were others.
fn read_variant(entries: &Entries) -> Result<LleVariant> {
    let name = text_or(entries, "variant", "standard")?;
    match LleVariant::NAMES.into_iter().find(|(known, _)| *known == name) {
        Some((_, variant)) => Ok(variant),
        None => entries.must_be("variant", "a variant of locally linear embedding"),
    }
}
