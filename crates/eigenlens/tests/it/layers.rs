//! The shape of the source: who may use whom, and what appears only where it is reviewed.

use std::fs;
use std::path::{Path, PathBuf};

/// Each layer may use those before it, and itself.
const LAYERS: [&[&str]; 11] = [
    &["scalar", "error", "options", "memory"],
    &["linalg"],
    &["data"],
    &["passes"],
    &["kernel", "graph"],
    &["operator"],
    &["solver"],
    &["n_components", "dependence", "em", "sparse_search"],
    &["plan"],
    &["model"],
    &["methods"],
];

struct File {
    /// Relative to `src`, with forward slashes.
    name: String,
    /// The lines of code: no comments, no `#[cfg(test)]` module at the end.
    code: Vec<(usize, String)>,
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

fn sources() -> Vec<File> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut paths = Vec::new();
    collect(&root, &mut paths);
    assert!(paths.len() > 20, "the sources are in {root:?}");
    let file = |path: &PathBuf| {
        let text = fs::read_to_string(path).unwrap();
        let relative = path.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/");
        let mut code = Vec::new();
        let lines: Vec<&str> = text.lines().collect();
        for (number, line) in lines.iter().enumerate() {
            // A module of unit tests ends the file's code; a lone `mod tests;` does not.
            if line.trim() == "#[cfg(test)]" && lines[number + 1].trim_end().ends_with('{') {
                break;
            }
            let line = line.split("//").next().unwrap_or_default();
            if !line.trim().is_empty() {
                code.push((number + 1, line.to_string()));
            }
        }
        File { name: relative, code }
    };
    let tests_only = |name: &str| name.ends_with("/tests.rs") || name == "n_components/testing.rs";
    paths.iter().map(file).filter(|f| !tests_only(&f.name)).collect()
}

fn layer_of(module: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&module))
}

fn module_of(name: &str) -> &str {
    name.split('/').next().unwrap_or_default().trim_end_matches(".rs")
}

/// The modules a line names by `crate::…`, also in braces.
fn named_modules(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in line.match_indices("crate::") {
        let rest = &line[at + "crate::".len()..];
        let names: Vec<&str> = match rest.strip_prefix('{') {
            Some(inner) => inner.split(',').collect(),
            None => vec![rest],
        };
        for name in names {
            let word: String = name
                .trim()
                .chars()
                .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
                .collect();
            found.push(word);
        }
    }
    found
}

fn offenders(allowed: &[&str], pattern: impl Fn(&str) -> bool) -> Vec<String> {
    sources()
        .iter()
        .filter(|f| !allowed.iter().any(|a| f.name.starts_with(a)))
        .flat_map(|f| {
            f.code
                .iter()
                .filter(|(_, line)| pattern(line))
                .map(|(number, line)| format!("{}:{number}: {}", f.name, line.trim()))
                .collect::<Vec<_>>()
        })
        .collect()
}

fn nothing(offenders: Vec<String>) {
    assert!(offenders.is_empty(), "\n{}", offenders.join("\n"));
}

#[test]
fn modules_depend_only_leftwards() {
    let mut wrong = Vec::new();
    for file in sources() {
        let own = module_of(&file.name);
        if own == "lib" {
            continue;
        }
        let Some(layer) = layer_of(own) else {
            wrong.push(format!("{}: `{own}` belongs to no layer", file.name));
            continue;
        };
        for (number, line) in &file.code {
            for used in named_modules(line) {
                // An exported macro can only name items of the crate root.
                if line.contains("$crate::") && used.starts_with(char::is_uppercase) {
                    continue;
                }
                // `Scalar: Tile` is the one edge to the right: the kernel of each element type.
                if file.name == "scalar.rs" && line.contains("crate::linalg::simd") {
                    continue;
                }
                // Names without a layer are items of the crate root: a hidden edge to anywhere.
                let fine = used == own
                    || layer_of(&used).is_some_and(|l| l < layer || (l == layer && layer == 0));
                if !fine {
                    wrong.push(format!("{}:{number}: {}", file.name, line.trim()));
                }
            }
        }
    }
    nothing(wrong);
}

#[test]
fn the_reader_of_edges_reads() {
    assert_eq!(named_modules("use crate::{data::Dataset, model};"), ["data", "model"]);
    assert_eq!(named_modules("    let x = crate::linalg::dense::qr_q(a);"), ["linalg"]);
    assert!(layer_of("methods") > layer_of("solver"));
    assert_eq!(module_of("data/rows.rs"), "data");
    assert_eq!(module_of("options.rs"), "options");
}

#[test]
fn faer_is_named_only_in_linalg() {
    nothing(offenders(&["linalg/", "scalar.rs"], |line| line.contains("faer")));
}

#[test]
fn the_library_neither_prints_nor_reads_its_surroundings() {
    let forbidden = [
        "println!",
        "eprintln!",
        "print!",
        "eprint!",
        "dbg!",
        "std::env",
        "std::fs",
        "std::net",
        "std::process",
        "stdin",
        "stdout",
        "stderr",
        "env::var",
        "thread_rng",
        "SystemTime",
        "Instant",
        "from_os_rng",
        "getrandom",
    ];
    // A limit on time needs a clock: there is one. Threads belong to a process: pools ask for its number.
    let exceptions = ["sparse_search/deadline.rs", "linalg/pool.rs"];
    nothing(offenders(&exceptions, |line| forbidden.iter().any(|f| line.contains(f))));
}

#[test]
fn unsafe_code_stays_in_its_corner() {
    nothing(offenders(&["linalg/simd", "linalg/gemm.rs", "linalg/pages.rs"], |line| {
        line.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == "unsafe")
    }));
}

#[test]
fn only_finish_sorts_eigenvalues() {
    // What else is sorted or compared: columns of a sparse row, null values of one component over
    // draws, weights of features for a table, costs of routes, the largest of a few numbers,
    // distances and shares for their median, neighbours by distance, features by their scale, p-values of a
    // table; in `sparse`, features by their weights and parts of a search tree by their bounds.
    let reviewed = [
        "solver/finish.rs",
        "sparse_search/",
        "n_components/parallel.rs",
        "passes/sparse.rs",
        "operator/sparse_symmetric.rs",
        "model/association.rs",
        "model/summary.rs",
        "model/gaussian.rs",
        "linalg/sparse.rs",
        "graph/",
        "methods/laplacian/ties.rs",
        "methods/lle/alignment.rs",
        "plan/",
        "methods/fit_warnings.rs",
        "kernel/bandwidth.rs",
    ];
    nothing(offenders(&reviewed, |line| {
        ["sort_by", "sort_unstable", ".sort()", "total_cmp", "sort_floats"]
            .iter()
            .any(|p| line.contains(p))
    }));
    // In those, no sorting of variances.
    let reviewed = &reviewed[..10];
    nothing(offenders(reviewed, |line| line.contains("sort")));
}

#[test]
fn nothing_is_unwrapped() {
    // `slice_mut` of matrices that the solvers have just made in standard layout: no input decides.
    let reviewed = "a.as_slice_mut().expect(\"an owned solver matrix is in standard layout\")";
    nothing(offenders(&[], |line| {
        line.trim() != reviewed
            && [".unwrap()", ".expect(", "panic!(", "unreachable!(", "todo!(", "unimplemented!("]
                .iter()
                .any(|p| line.contains(p))
    }));
}
