//! What the two programs are asked: one table, in the words of the command line.

/// Every method with every option of a row is fitted to every table of it.
struct Row {
    method: &'static str,
    data: &'static [&'static str],
    options: &'static [&'static str],
    /// What is done with the model afterwards, besides `transform`.
    then: &'static [&'static str],
}

/// One fit.
pub struct Case {
    /// `fit METHOD DATA OPTIONS…`
    pub words: Vec<&'static str>,
    pub data: &'static str,
    /// The commands that follow: each gets the model, where it needs it the table, and `-o`.
    pub then: Vec<Vec<&'static str>>,
}

impl Case {
    /// The command line, by which cases are listed and chosen.
    pub fn name(&self) -> String {
        self.words.join(" ")
    }

    /// How the table is read by the commands that follow.
    pub fn reading(&self) -> &'static [&'static str] {
        if has_holes(self.data) { &["--missing", "em"] } else { &[] }
    }
}

/// All of them.
pub fn all() -> Vec<Case> {
    let of = |row: &'static Row| {
        row.data.iter().flat_map(move |&data| {
            row.options.iter().map(move |options| {
                let mut words = vec!["fit", row.method, data];
                words.extend(options.split_whitespace());
                // Other methods fit tables with holes, but score none.
                let scores = !has_holes(data) || SCORE_HOLES.contains(&row.method);
                let then = scores.then_some(&"transform").into_iter().chain(row.then);
                Case { words, data, then: then.map(|c| c.split_whitespace().collect()).collect() }
            })
        })
    };
    TABLE.iter().flat_map(of).collect()
}

fn has_holes(data: &str) -> bool {
    data.contains("holes")
}

/// Methods whose models score samples with missing values.
const SCORE_HOLES: &[&str] = &["pca", "lsa", "ppca", "bayesian-pca", "ppca-mixture"];

const DENSE: &[&str] = &[
    "tall-f64.npy",
    "tall-f32.npy",
    "wide-f64.npy",
    "wide-f32.npy",
    "square-f64.npy",
    "offset-f64.npy",
    "offset-f32.npy",
    "whole-f64.npy",
    "whole-f32.npy",
    "pixels-f64.npy",
    "pixels-f32.npy",
    "tall.csv",
    "whole.csv",
];
const FEW: &[&str] = &["tall-f64.npy", "tall-f32.npy", "wide-f64.npy", "square-f32.npy"];
const TALL: &[&str] = &["tall-f64.npy", "offset-f32.npy", "whole-f64.npy"];
const HOLES: &[&str] = &["few-holes-f64.npy", "few-holes-f32.npy", "few-holes.csv"];
const MORE_HOLES: &[&str] =
    &["few-holes-f64.npy", "few-holes-f32.npy", "many-holes-f64.npy", "many-holes-f32.npy"];
const SPARSE: &[&str] = &["counts.mtx", "wide.mtx"];
const LONG: &[&str] = &["long-f64.npy", "long-f32.npy"];
const CURVED: &[&str] = &["roll-f64.npy", "roll-f32.npy", "whole-f64.npy"];

const TABLE: &[Row] = &[
    Row {
        method: "pca",
        data: DENSE,
        options: &["-k 3", "-k 3 --scale", "-k 2 --no-center", "-k 95%"],
        then: &["reconstruct"],
    },
    Row {
        method: "pca",
        data: FEW,
        options: &[
            "-k all --whiten",
            "-k 3 --scale --whiten",
            "-k 3 --solver covariance",
            "-k 3 --solver dual",
            "-k 3 --solver svd --scale",
            "-k 3 --solver iterative",
            "-k 3 --solver randomized --seed 7",
            "-k 3 --solver iterative --tolerance 1e-3 --max-iterations 500",
        ],
        then: &[],
    },
    Row {
        method: "pca",
        data: &["tall-f64.npy"],
        options: &[
            "-k rule:threshold",
            "-k rule:ratio=0.05",
            "-k rule:cumulative-share=0.8",
            "-k rule:elbow",
            "-k rule:minka",
            "-k rule:bic",
            "-k rule:parallel-analysis",
            "-k rule:gavish-donoho",
            "-k rule:broken-stick",
            "-k rule:kaiser --scale",
            "-k rule:cross-validation",
        ],
        then: &[],
    },
    Row {
        method: "pca",
        data: &["square-f64.npy", "pixels-f32.npy", "pixels-f64.npy"],
        options: &["-k 60", "-k 60 --solver iterative", "-k 60 --solver randomized"],
        then: &[],
    },
    Row {
        method: "pca",
        data: &["tall.csv"],
        options: &[
            "-k 3 --weights weight",
            "-k 3 --weights weight --weight-kind relative --scale",
            "-k 3 --weights weight --solver svd",
            "-k 3 --weights weight --solver iterative",
            "-k 3 --columns x1..x6 --labels class",
        ],
        then: &[],
    },
    Row {
        method: "pca",
        data: HOLES,
        options: &[
            "-k 3 --missing drop-rows",
            "-k 3 --missing drop-columns",
            "-k 3 --missing mean --scale",
            "-k 3 --missing em",
            "-k 3 --missing em --scale",
        ],
        then: &["transform --standard-errors"],
    },
    Row {
        method: "pca",
        data: &["many-holes-f64.npy", "many-holes-f32.npy"],
        options: &["-k 3 --missing mean", "-k 3 --missing em"],
        then: &[],
    },
    Row {
        method: "pca",
        data: SPARSE,
        options: &[
            "-k 3",
            "-k 3 --scale",
            "-k 3 --no-center",
            "-k 3 --solver covariance",
            "-k 3 --solver dual",
            "-k 3 --solver iterative",
            "-k 3 --solver randomized",
        ],
        then: &[],
    },
    Row {
        method: "pca",
        data: LONG,
        options: &[
            "-k 3 --memory 48MiB",
            "-k 3 --memory 48MiB --scale --whiten",
            "-k 3 --memory 48MiB --solver iterative",
            "-k 3 --memory 48MiB --solver svd",
            "-k 3 --memory 48MiB --solver randomized",
            "-k 3",
        ],
        then: &[],
    },
    Row {
        method: "pca",
        data: &["long.csv"],
        options: &["-k 3 --memory 49MiB", "-k 3 --memory 49MiB --weights weight"],
        then: &[],
    },
    Row {
        method: "pca",
        data: &["long-holes-f64.npy"],
        options: &[
            "-k 3 --memory 56MiB --missing em",
            "-k 3 --memory 48MiB --missing mean",
            "-k 3 --memory 48MiB --missing drop-rows",
        ],
        then: &[],
    },
    Row {
        method: "lsa",
        data: &[
            "tall-f64.npy",
            "tall-f32.npy",
            "wide-f32.npy",
            "whole.csv",
            "counts.mtx",
            "wide.mtx",
        ],
        options: &["-k 3", "-k 3 --solver iterative", "-k 3 --solver dual"],
        then: &[],
    },
    Row {
        method: "lsa",
        data: &["counts.mtx", "whole.csv"],
        options: &["-k 3 --weighting tf-idf", "-k 3 --weighting log-entropy"],
        then: &[],
    },
    Row {
        method: "lsa",
        data: &["long-f64.npy", "long-f32.npy"],
        options: &["-k 3 --memory 48MiB"],
        then: &[],
    },
    Row {
        method: "ppca",
        data: DENSE,
        options: &["-k 3", "-k 2 --scale"],
        then: &["score", "sample -n 20"],
    },
    Row {
        method: "ppca",
        data: FEW,
        options: &["-k 3 --em", "-k 3 --solver iterative"],
        then: &[],
    },
    Row {
        method: "ppca",
        data: MORE_HOLES,
        options: &["-k 3 --missing em", "-k 2 --missing em --scale", "-k 2 --missing mean"],
        then: &["impute", "score", "transform --standard-errors"],
    },
    Row {
        method: "ppca",
        data: &["tall.csv"],
        options: &["-k 3 --weights weight", "-k 3 --weights weight --em"],
        then: &[],
    },
    Row { method: "ppca", data: SPARSE, options: &["-k 3"], then: &[] },
    Row {
        method: "ppca",
        data: &["long-f64.npy", "long-f32.npy"],
        options: &["-k 3 --memory 48MiB"],
        then: &[],
    },
    Row {
        method: "ppca",
        data: &["long-holes-f64.npy"],
        options: &["-k 3 --memory 56MiB --missing em"],
        then: &[],
    },
    Row { method: "bayesian-pca", data: TALL, options: &["", "-k 4 --scale"], then: &["score"] },
    Row { method: "bayesian-pca", data: MORE_HOLES, options: &["-k 4 --missing em"], then: &[] },
    Row {
        method: "ppca-mixture",
        data: TALL,
        options: &["-k 2 --parts 3", "-k 1 --scale --starts 2", "-k 1 --parts 3 --best"],
        then: &["score", "sample -n 20"],
    },
    Row { method: "ppca-mixture", data: HOLES, options: &["-k 2 --missing em"], then: &["impute"] },
    Row {
        method: "sparse-pca",
        data: &["tall-f64.npy", "tall-f32.npy", "wide-f64.npy", "whole.csv", "counts.mtx"],
        options: &[
            "-k 3",
            "-k 2 --cardinality 4,3 --scale",
            "-k 2 --cardinality 3 --non-negative",
            "-k 2 --cardinality 4 --deflation hotelling",
            "-k 2 --cardinality 4 --deflation schur --projection product",
            "-k 2 --cardinality 4 --deflation orthogonalized-projection --no-center",
            "-k 2 --penalty 0.1",
            "-k 2 --non-zeros 4 --ridge infinite",
            "-k 2 --penalty 0.5 --penalty-scale sum",
            "-k 2 --dictionary 1",
        ],
        then: &[],
    },
    Row {
        method: "sparse-pca",
        data: &["tall-f64.npy", "whole-f32.npy"],
        options: &["-k 2 --cardinality 4 --exact", "-k 1 --path 5", "-k 1 --penalty 0.1 --path 5"],
        then: &[],
    },
    Row { method: "sparse-pca", data: HOLES, options: &["-k 2 --missing mean"], then: &[] },
    Row {
        method: "sparse-pca",
        data: LONG,
        options: &["-k 2 --cardinality 4 --memory 48MiB"],
        then: &[],
    },
    Row {
        method: "kernel-pca",
        data: &["roll-f64.npy", "roll-f32.npy", "whole-f64.npy", "offset-f32.npy", "counts.mtx"],
        options: &[
            "-k 3",
            "-k 3 --kernel linear",
            "-k 3 --kernel laplacian --gamma scale",
            "-k 3 --kernel polynomial --degree 3 --gamma 0.001",
            "-k 3 --kernel sigmoid --gamma 0.0001",
            "-k 3 --kernel cosine",
            "-k 3 --storage blocks",
            "-k 3 --landmarks 40",
            "-k 3 --landmarks 40 --selection uniform --gamma 1/d",
            "-k 3 --subset 100 --sigma 4",
        ],
        then: &[],
    },
    Row {
        method: "kernel-pca",
        data: &["roll-f64.npy", "roll-f32.npy", "whole-f64.npy"],
        options: &["-k 3 --random-features 64", "-k 3 --random-features 64 --orthogonal --seed 3"],
        then: &[],
    },
    Row {
        method: "kernel-pca",
        data: &["roll-f64.npy", "roll-f32.npy"],
        options: &["-k 3 --sigma 5", "-k 3 --landmarks 40 --sigma 5"],
        then: &["reconstruct"],
    },
    Row {
        method: "kernel-pca",
        data: &["kernel.csv"],
        options: &["-k 3 --kernel precomputed"],
        then: &[],
    },
    Row {
        method: "kernel-pca",
        data: &["whole.csv"],
        options: &["-k 3 --kernel delta"],
        then: &[],
    },
    Row { method: "kernel-pca", data: HOLES, options: &["-k 3 --missing mean"], then: &[] },
    Row {
        method: "kernel-pca",
        data: LONG,
        options: &[
            "-k 3 --landmarks 100 --memory 92MiB",
            "-k 3 --random-features 100 --memory 92MiB",
        ],
        then: &[],
    },
    Row {
        method: "supervised-pca",
        data: &["tall.csv"],
        options: &[
            "--target class",
            "-k 2 --target class --scale",
            "-k 2 --target class --supervision 0.5",
            "-k 2 --target class --supervision 0.5 --solver iterative",
            "-k 2 --target goal",
            "-k 1 --target goal --label-kernel linear --no-center",
            "-k 2 --target goal --label-kernel gaussian --label-gamma 0.1",
            "-k 2 --target weight --target-kind class",
            "-k 2 --target class --weights weight",
        ],
        then: &[],
    },
    Row {
        method: "supervised-pca",
        data: &["long.csv"],
        options: &["-k 2 --target class --memory 52MiB", "-k 2 --target class"],
        then: &[],
    },
    Row {
        method: "lda",
        data: &["tall.csv"],
        options: &[
            "--target class",
            "-k 1 --target class --shrinkage 0.2",
            "--target class --shrinkage auto",
            "--target class --pooling priors --weights weight",
        ],
        then: &[],
    },
    Row {
        method: "kernel-supervised-pca",
        data: &["tall.csv"],
        options: &[
            "-k 2 --target class",
            "-k 2 --target goal --kernel linear",
            "-k 2 --target goal --kernel polynomial --gamma 0.01 --no-center",
            "-k 2 --target class --kernel laplacian",
        ],
        then: &[],
    },
    Row {
        method: "mds",
        data: &["roll-f64.npy", "roll-f32.npy", "wide-f64.npy", "whole.csv"],
        options: &[
            "",
            "-k 3 --metric manhattan",
            "-k 3 --metric chebyshev",
            "-k 3 --metric cosine",
        ],
        then: &[],
    },
    Row { method: "mds", data: &["distances.csv"], options: &["--distances"], then: &[] },
    Row {
        method: "isomap",
        data: CURVED,
        options: &[
            "--neighbors 8 --bridges",
            "-k 3 --neighbors 12 --bridges --landmarks 50",
            "--radius 6 --bridges",
        ],
        then: &[],
    },
    Row {
        method: "laplacian",
        data: CURVED,
        options: &[
            "--neighbors 8 --bridges",
            "-k 3 --neighbors 8 --bridges --heat",
            "--neighbors 8 --bridges --heat --gamma 0.1 --normalization symmetric",
            "--neighbors 8 --bridges --normalization unnormalized --commute-time",
            "--radius 6 --bridges",
        ],
        then: &[],
    },
    Row {
        method: "lle",
        data: CURVED,
        options: &[
            "--neighbors 8 --bridges",
            "-k 3 --neighbors 12 --bridges --regularization 0.01 --kernel-scaling",
            "--radius 6 --bridges",
        ],
        then: &[],
    },
];
