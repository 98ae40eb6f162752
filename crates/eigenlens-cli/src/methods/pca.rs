//! `fit pca`.

use super::{AnyData, Fitted, Method, Wishes, each};
use eigenlens::{NComponents, Pca};
use eigenlens_io::Numbers;

pub const METHOD: Method = Method {
    name: "pca",
    summary: "principal component analysis: directions of largest variance",
    page: "docs/methods/pca.md",
    axis: "PC",
    options: &["scale", "no-center", "whiten"],
    default_components: |_, _| NComponents::VarianceShare(0.95),
    plan: |wishes, data| each!(data, d => configured(wishes).plan(d)),
    fit,
};

fn configured(wishes: &Wishes) -> Pca {
    Pca::new(wishes.components.clone())
        .center(wishes.center)
        .standardize(wishes.scale)
        .whiten(wishes.whiten)
        .solver(wishes.solver)
        .options(wishes.options.clone())
}

fn fit(wishes: &Wishes, data: &AnyData, want_scores: bool) -> eigenlens::Result<Fitted> {
    let pca = configured(wishes);
    if !want_scores {
        let model = each!(data, d => pca.fit(d))?;
        return Ok(Fitted { model, scores: None });
    }
    Ok(match data {
        AnyData::F32(d) => {
            let (model, scores) = pca.fit_transform(d)?;
            Fitted { model, scores: Some(Numbers::F32(scores)) }
        }
        AnyData::F64(d) => {
            let (model, scores) = pca.fit_transform(d)?;
            Fitted { model, scores: Some(Numbers::F64(scores)) }
        }
    })
}
