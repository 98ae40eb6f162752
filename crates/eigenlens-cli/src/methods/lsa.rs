//! `fit lsa`.

use super::{AnyData, Fitted, Method, Wishes, each};
use eigenlens::{Lsa, NComponents};
use eigenlens_io::Numbers;

pub const METHOD: Method = Method {
    name: "lsa",
    summary: "latent semantic analysis: PCA without centring, for counts and sparse data",
    page: "docs/methods/lsa.md",
    axis: "LS",
    options: &["weighting"],
    // The usual number for text (Deerwester et al. 1990); a share would mean a long tail.
    default_components: |n, d| NComponents::Fixed(100.min(d).min(n.unwrap_or(d)).max(1)),
    plan: |wishes, data| each!(data, d => configured(wishes).plan(d)),
    fit,
};

fn configured(wishes: &Wishes) -> Lsa {
    Lsa::new(wishes.components.clone()).solver(wishes.solver).options(wishes.options.clone())
}

fn fit(wishes: &Wishes, data: &AnyData, want_scores: bool) -> eigenlens::Result<Fitted> {
    let lsa = configured(wishes);
    if !want_scores {
        let model = each!(data, d => lsa.fit(d))?;
        return Ok(Fitted { model, scores: None });
    }
    Ok(match data {
        AnyData::F32(d) => {
            let (model, scores) = lsa.fit_transform(d)?;
            Fitted { model, scores: Some(Numbers::F32(scores)) }
        }
        AnyData::F64(d) => {
            let (model, scores) = lsa.fit_transform(d)?;
            Fitted { model, scores: Some(Numbers::F64(scores)) }
        }
    })
}
