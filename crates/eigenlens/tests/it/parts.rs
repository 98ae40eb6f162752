//! Models taken apart and put together: nothing is lost, and nothing false gets in.

use crate::support::Random;
use eigenlens::model::parts::{Array, Numbers};
use eigenlens::{
    Dataset, Error, Lsa, NComponents, Parts, Pca, PcaModel, Rule, SampleWeights, Scalar, Solver,
    TermWeighting, TermWeights, Value,
};
use ndarray::Array2;

fn bits<T: Scalar>(x: &Array2<T>) -> Vec<u64> {
    x.iter().map(|v| v.to_f64().to_bits()).collect()
}

/// There and back gives the same parts, and the same scores to the last bit.
fn check<T: Scalar>(model: &PcaModel, data: &Dataset<T>) {
    let parts = model.to_parts();
    let back = PcaModel::from_parts(&parts).unwrap();
    assert_eq!(back.to_parts(), parts);
    assert_eq!(bits(&model.transform(data).unwrap()), bits(&back.transform(data).unwrap()));
    assert_eq!(model.method(), back.method());
    assert_eq!(model.certificate(), back.certificate());
    assert_eq!(model.convergence(), back.convergence());
    assert_eq!(model.plan(), back.plan());
    assert_eq!(model.warnings(), back.warnings());
    assert_eq!(model.feature_names(), back.feature_names());
    assert_eq!(model.full_spectrum(), back.full_spectrum());
    assert_eq!(model.explained_variance(), back.explained_variance());
    assert_eq!(model.total_variance().to_bits(), back.total_variance().to_bits());
    assert_eq!(model.sampling_groups(), back.sampling_groups());
    assert_eq!(model.feature_diagnostics().unwrap(), back.feature_diagnostics().unwrap());
    assert_eq!(model.verify(data).unwrap(), back.verify(data).unwrap());
}

#[test]
fn every_model_comes_back_whole() {
    let mut random = Random::new(11);
    let x = random.ordinary(60, 7);
    let narrow = x.mapv(|v| v as f32);
    let names: Vec<String> = (0..7).map(|f| format!("f{f}")).collect();
    let named = || Dataset::from(&x).with_feature_names(names.clone()).unwrap();
    let solvers = [
        Solver::Auto,
        Solver::Covariance,
        Solver::Dual,
        Solver::Svd,
        Solver::Iterative,
        Solver::Randomized { oversampling: 1, power_iterations: 0 },
    ];
    for solver in solvers {
        for (standardize, whiten) in [(false, false), (true, false), (true, true)] {
            let pca = Pca::new(3).solver(solver).standardize(standardize).whiten(whiten);
            check(&pca.fit(named()).unwrap(), &named());
            check(&pca.fit(&narrow).unwrap(), &Dataset::from(&narrow));
        }
        check(&Lsa::new(2).solver(solver).fit(named()).unwrap(), &named());
    }
    let weighted = named().with_weights(SampleWeights::relative(vec![0.5; 60]));
    check(&Pca::new(NComponents::All).fit(&weighted).unwrap(), &weighted);
    check(&Pca::new(2).center(false).fit(named()).unwrap(), &named());
}

#[test]
fn models_of_absurd_data_come_back_whole() {
    let mut random = Random::new(12);
    let x = random.ordinary(30, 4);
    for scale in [1e-300, 1e300] {
        let x = x.mapv(|v| v * scale);
        let model = Pca::new(2).whiten(true).fit(&x).unwrap();
        check(&model, &Dataset::from(&x));
    }
    // Constant columns, null components, an outlier, a rule that finds nothing: every warning.
    let mut strange = Array2::from_elem((12, 5), 3.0);
    strange[[4, 1]] = 1e9;
    let model = Pca::new(4).standardize(true).fit(&strange).unwrap();
    assert!(model.warnings().len() >= 3, "{:?}", model.warnings());
    check(&model, &Dataset::from(&strange));
    let zeros = Array2::<f64>::zeros((5, 3));
    check(&Pca::new(3).fit(&zeros).unwrap(), &Dataset::from(&zeros));
    let noise = random.matrix(200, 6);
    let rule = NComponents::Rule(Rule::ParallelAnalysis);
    check(&Pca::new(rule).fit(&noise).unwrap(), &Dataset::from(&noise));
}

fn parts() -> Parts {
    let x = Random::new(13).ordinary(40, 5);
    let data = Dataset::from(&x).with_feature_names(["a", "b", "c", "d", "e"]).unwrap();
    Pca::new(3).standardize(true).solver(Solver::Covariance).fit(&data).unwrap().to_parts()
}

/// What the error says of spoilt parts.
fn complaint(spoil: impl FnOnce(&mut Parts)) -> (String, String) {
    let mut parts = parts();
    spoil(&mut parts);
    match PcaModel::from_parts(&parts) {
        Err(Error::Model { part, reason }) => (part, reason),
        Err(other) => panic!("another error: {other}"),
        Ok(_) => panic!("the spoilt model was accepted"),
    }
}

fn floats<'a>(parts: &'a mut Parts, name: &str) -> &'a mut Vec<f64> {
    match &mut parts.arrays.get_mut(name).unwrap().numbers {
        Numbers::F64(values) => values,
        Numbers::I64(_) => panic!("`{name}` holds whole numbers"),
    }
}

#[test]
fn spoilt_arrays_are_refused() {
    let names: Vec<String> = parts().arrays.keys().cloned().collect();
    assert!(names.len() >= 10);
    for name in &names {
        let optional = ["scale", "spectrum", "convergence.residuals"].contains(&name.as_str());
        if !optional {
            let (part, reason) = complaint(|p| drop(p.arrays.remove(name)));
            assert_eq!((part.as_str(), reason.as_str()), (name.as_str(), "is missing"));
        }
        let empty = Array { shape: vec![0], numbers: Numbers::F64(Vec::new()) };
        let (part, _) = complaint(|p| drop(p.arrays.insert(name.clone(), empty)));
        assert_eq!(&part, name);
        // A shape whose product overflows, and one that does not fit the numbers.
        for shape in [vec![usize::MAX, 2], vec![7, 9, 2]] {
            let (part, _) = complaint(|p| p.arrays.get_mut(name).unwrap().shape = shape);
            assert_eq!(&part, name);
        }
        if matches!(parts().arrays[name].numbers, Numbers::F64(ref v) if !v.is_empty()) {
            let (part, reason) = complaint(|p| floats(p, name)[0] = f64::NAN);
            assert!(&part == name && reason.contains("NaN"), "{part}: {reason}");
        }
    }
    let (part, reason) = complaint(|p| floats(p, "components")[0] += 1e-6);
    assert!(part == "components" && reason.contains("orthonormal"), "{reason}");
    let (part, reason) = complaint(|p| floats(p, "values").swap(0, 1));
    assert!(part == "values" && reason.contains("descend"), "{reason}");
    let (part, _) = complaint(|p| floats(p, "values")[2] = -1.0);
    assert_eq!(part, "values");
    let (part, _) = complaint(|p| floats(p, "inv_scale")[0] = -1.0);
    assert_eq!(part, "inv_scale");
    let (part, _) = complaint(|p| floats(p, "scale")[0] = 0.0);
    assert_eq!(part, "scale");
    let (part, _) = complaint(|p| floats(p, "spectrum").reverse());
    assert_eq!(part, "spectrum");
    let (part, _) = complaint(|p| floats(p, "certificate.angles")[0] = -1.0);
    assert_eq!(part, "certificate.angles");
    let extra = Array { shape: vec![1], numbers: Numbers::F64(vec![1.0]) };
    let (part, _) = complaint(|p| drop(p.arrays.insert("surprise".into(), extra)));
    assert_eq!(part, "surprise");
    let whole = Array { shape: vec![1], numbers: Numbers::I64(vec![9]) };
    let (part, _) = complaint(|p| drop(p.arrays.insert("constant_columns".into(), whole)));
    assert_eq!(part, "constant_columns");
}

#[test]
fn spoilt_descriptions_are_refused() {
    let names: Vec<String> = parts().description.keys().cloned().collect();
    for name in &names {
        let (part, reason) = complaint(|p| drop(p.description.remove(name)));
        assert_eq!((part.as_str(), reason.as_str()), (name.as_str(), "is missing"));
        let (part, _) = complaint(|p| drop(p.description.insert(name.clone(), Value::list([0.5]))));
        assert!(part.starts_with(name.as_str()), "{part}");
    }
    let set = |name: &'static str, value: Value| {
        complaint(move |p| drop(p.description.insert(name.into(), value))).0
    };
    assert_eq!(set("rank", Value::Integer(2)), "rank");
    assert_eq!(set("n_samples", Value::Number(0.5)), "n_samples");
    assert_eq!(set("tolerance", Value::Number(f64::NAN)), "tolerance");
    assert_eq!(set("total", Value::Number(-1.0)), "total");
    assert_eq!(set("exponent", Value::Integer(5000)), "exponent");
    assert_eq!(set("center", Value::Bool(false)), "mean");
    assert_eq!(set("feature_names", Value::list(["a"])), "feature_names");
    let (part, reason) = complaint(|p| p.version = 3);
    assert!(part == "version" && reason.contains('3'));
    let (part, _) = complaint(|p| p.method = "alchemy".into());
    assert_eq!(part, "method");
    for (record, entry) in
        [("plan", "route"), ("certificate", "rank"), ("convergence", "converged")]
    {
        let (part, _) = complaint(|p| match p.description.get_mut(record) {
            Some(Value::Map(map)) => drop(map.insert(entry.into(), Value::Text("odd".into()))),
            _ => panic!("`{record}` is no map"),
        });
        assert_eq!(part, format!("{record}.{entry}"));
    }
}

#[test]
fn term_weights_come_back() {
    for weighting in TermWeighting::ALL {
        let weights = TermWeights::from_global(weighting, vec![0.0, 1.5]).unwrap();
        assert_eq!((weights.weighting(), weights.global()), (weighting, &[0.0, 1.5][..]));
    }
    assert!(TermWeights::from_global(TermWeighting::TfIdf, vec![f64::NAN]).is_err());
    assert!(TermWeights::from_global(TermWeighting::TfIdf, vec![-1.0]).is_err());
}
