//! `--memory` is kept or refused, whatever the input claims; a system without memory is an error, not an abort.

#![cfg(target_os = "linux")]

use crate::support::{Ran, Sandbox};
use eigenlens_io::write::{Header, Output, table_writer};
use std::fs::File;
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::process::Child;

const MIB: u64 = 1 << 20;

/// Runs within a budget: what came of it, and the most memory that the process had at a time. It is never more
/// than the budget.
fn within(sandbox: &Sandbox, budget: u64, arguments: &[&str]) -> Ran {
    let memory = budget.to_string();
    let arguments = [arguments, &["--memory", &memory]].concat();
    let (ran, peak) = measured(sandbox, &arguments);
    assert!(peak <= budget, "{arguments:?}: {} of {} MiB\n{}", peak / MIB, budget / MIB, ran.err);
    ran
}

/// The same of what must be refused before the work.
fn refused(sandbox: &Sandbox, budget: u64, arguments: &[&str]) -> Ran {
    let before = sandbox.files();
    let ran = within(sandbox, budget, arguments);
    assert_eq!(ran.code, 71, "{arguments:?}\n{}", ran.err);
    assert!(ran.err.contains("error: ") && ran.err.contains("--memory"), "{}", ran.err);
    assert_eq!(sandbox.files(), before);
    ran
}

/// Runs the program from a process of its own: the peak of a child begins with what its parent has, and this one
/// runs other tests.
fn measured(sandbox: &Sandbox, arguments: &[&str]) -> (Ran, u64) {
    let beside = sandbox.folder.with_extension("measured");
    std::fs::create_dir_all(&beside).unwrap();
    let helper = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "budgets::the_program_is_measured_by_a_small_process"])
        .current_dir(&sandbox.folder)
        .env(ARGUMENTS, arguments.join("\u{1f}"))
        .env(BESIDE, &beside)
        .output()
        .unwrap();
    assert!(helper.status.success(), "{}", String::from_utf8_lossy(&helper.stdout));
    let read = |name: &str| {
        String::from_utf8_lossy(&std::fs::read(beside.join(name)).unwrap()).into_owned()
    };
    let result = read("result");
    let (code, peak) = result.split_once(' ').unwrap();
    let ran = Ran { code: code.parse().unwrap(), out: read("out"), err: read("err") };
    (ran, peak.parse().unwrap())
}

const ARGUMENTS: &str = "EIGENLENS_MEASURED_ARGUMENTS";
const BESIDE: &str = "EIGENLENS_MEASURED_BESIDE";

#[test]
fn the_program_is_measured_by_a_small_process() {
    let (Ok(arguments), Some(beside)) = (std::env::var(ARGUMENTS), std::env::var_os(BESIDE)) else {
        return;
    };
    let beside = PathBuf::from(beside);
    let child = std::process::Command::new(env!("CARGO_BIN_EXE_eigenlens"))
        .args(arguments.split('\u{1f}'))
        .stdout(File::create(beside.join("out")).unwrap())
        .stderr(File::create(beside.join("err")).unwrap())
        .spawn()
        .unwrap();
    let (code, peak) = waited(child);
    std::fs::write(beside.join("result"), format!("{code} {peak}")).unwrap();
}

/// The exit code of a child, -1 where a signal ended it, and the most bytes that it had in memory.
fn waited(child: Child) -> (i32, u64) {
    let id = child.id();
    let mut status = 0;
    // SAFETY: all of its fields are numbers, for which zeros are values.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: a child of this process that nobody has waited for, and two places to write to.
    let waited = unsafe { libc::wait4(id as i32, &mut status, 0, &mut usage) };
    assert_eq!(waited, id as i32);
    let code = if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { -1 };
    (code, 1024 * usage.ru_maxrss as u64)
}

/// The program behind a limit of the shell, such as `-v 200000`.
fn limited(sandbox: &Sandbox, limit: &str, arguments: &[&str]) -> Ran {
    let program = env!("CARGO_BIN_EXE_eigenlens");
    let mut command = std::process::Command::new("sh");
    command.current_dir(&sandbox.folder).args([
        "-c",
        &format!("ulimit {limit}; exec \"$@\""),
        "sh",
    ]);
    Ran::of(command.arg(program).args(arguments).output().unwrap())
}

/// An NPY file of single precision; without values it is one hole.
fn npy(sandbox: &Sandbox, name: &str, rows: usize, columns: usize, values: &[f32]) {
    let text =
        format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
    let mut file = File::create(sandbox.path(name)).unwrap();
    file.write_all(b"\x93NUMPY\x01\x00\x76\x00").unwrap();
    file.write_all(format!("{text:<117}\n").as_bytes()).unwrap();
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    let total = (rows * columns * 4) as u64;
    while file.stream_position().unwrap() < 128 + total && !bytes.is_empty() {
        let left = (128 + total - file.stream_position().unwrap()) as usize;
        file.write_all(&bytes[..left.min(bytes.len())]).unwrap();
    }
    file.set_len(128 + total).unwrap();
    file.seek(SeekFrom::Start(0)).unwrap();
}

/// Numbers without a pattern, from a seed (Marsaglia's xorshift).
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() >> 11) as usize % n
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    fn number(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

fn fit<'a>(method: &'a str, data: &'a str) -> [&'a str; 7] {
    ["fit", method, data, "-k", "2", "-o", "m.safetensors"]
}

#[test]
fn names_that_a_header_claims_are_counted_before_they_are_made() {
    let sandbox = Sandbox::new("budget_names");
    npy(&sandbox, "wide.npy", 2, 50_000_000, &[]);
    let ran = refused(&sandbox, 64 * MIB, &fit("pca", "wide.npy"));
    assert!(ran.err.contains("50000000 columns"), "{}", ran.err);
    for (rows, columns) in [("4000000000", "4000000000"), ("3", "300000000"), ("300000000", "3")] {
        let head = "%%MatrixMarket matrix coordinate real general";
        sandbox.write("h.mtx", &format!("{head}\n{rows} {columns} 1\n1 1 1\n"));
        let ran = within(&sandbox, 64 * MIB, &fit("pca", "h.mtx"));
        assert!(ran.code == 65 || ran.code == 71, "{}", ran.err);
    }
    // Many columns whose numbers are there.
    let names: Vec<String> = (0..200_000).map(|i| format!("c{i}")).collect();
    let row = vec!["1.5"; names.len()].join(",");
    sandbox.write("cols.csv", &format!("{}\n{row}\n{row}\n{row}\n", names.join(",")));
    refused(&sandbox, 64 * MIB, &fit("pca", "cols.csv"));
    refused(&sandbox, 128 * MIB, &fit("pca", "cols.csv"));
}

#[test]
fn long_rows_and_long_labels_are_read_within_the_budget() {
    let sandbox = Sandbox::new("budget_rows");
    let names: Vec<String> = (0..40).map(|i| format!("a{i}{}", "x".repeat(1_000_000))).collect();
    let row = vec!["1.5"; names.len()].join(",");
    sandbox.write("head.csv", &format!("{}\n{row}\n{row}\n", names.join(",")));
    refused(&sandbox, 128 * MIB, &fit("pca", "head.csv"));
    let mut draws = Draws(3);
    let mut file = BufWriter::new(File::create(sandbox.path("labels.csv")).unwrap());
    file.write_all(b"name,a,b,c\n").unwrap();
    for i in 0..700 {
        let [a, b, c] = [draws.number(), draws.number(), draws.number()];
        writeln!(file, "{}{i},{a},{b},{c}", "L".repeat(100_000)).unwrap();
    }
    drop(file);
    let scores = [&fit("pca", "labels.csv")[..], &["--scores", "s.csv"]].concat();
    assert_eq!(within(&sandbox, 64 * MIB, &scores).code, 0);
    let transform = ["transform", "m.safetensors", "labels.csv", "-o", "t.csv"];
    assert_eq!(within(&sandbox, 64 * MIB, &transform).code, 0);
    assert_eq!(sandbox.bytes("s.csv"), sandbox.bytes("t.csv"));
    refused(&sandbox, 64 * MIB, &["report", "m.safetensors", "labels.csv"]);
    refused(&sandbox, 64 * MIB, &["plot", "m.safetensors", "labels.csv"]);
}

#[test]
fn one_page_of_a_column_counts() {
    let sandbox = Sandbox::new("budget_page");
    let mut draws = Draws(5);
    let rows = 400_000;
    // A page of text that hardly repeats is as long as the column.
    let names = vec!["a".to_string(), "b".into(), "c".into(), "d".into()];
    let path = sandbox.path("t.parquet");
    let header = Header { numbers: names, n_rows: Some(rows), ..Header::default() };
    let mut writer = table_writer(Output::create(&path, &[]).unwrap()).unwrap();
    writer.begin(&header).unwrap();
    let numbers = ndarray::Array2::from_shape_fn((rows, 4), |_| draws.number());
    writer.write(&[], numbers.view().into()).unwrap();
    writer.finish().unwrap();
    let ran = within(&sandbox, 64 * MIB, &fit("pca", "t.parquet"));
    assert!(ran.code == 0 || ran.code == 71, "{}", ran.err);
}

#[test]
fn samples_are_drawn_and_rules_applied_within_the_budget() {
    let sandbox = Sandbox::with("budget_samples", &["iris"]);
    sandbox.ok(&["fit", "ppca", "iris.csv", "-k", "2", "-o", "p.safetensors"]);
    let sample = ["sample", "p.safetensors", "-n", "600000", "-o", "s.npy"];
    assert_eq!(within(&sandbox, 48 * MIB, &sample).code, 0);
    assert_eq!(sandbox.bytes("s.npy").len(), 128 + 600_000 * 4 * 8);
    // The same samples however many are drawn at once.
    sandbox.ok(&["sample", "p.safetensors", "-n", "5", "-o", "few.npy"]);
    assert_eq!(sandbox.bytes("few.npy")[128..], sandbox.bytes("s.npy")[128..128 + 5 * 32]);
    let mut draws = Draws(7);
    let block: Vec<f32> = (0..1009 * 40).map(|_| draws.number() as f32).collect();
    npy(&sandbox, "tall.npy", 100_000, 40, &block);
    refused(&sandbox, 64 * MIB, &["choose", "tall.npy"]);
    assert_eq!(within(&sandbox, 64 * MIB, &fit("pca", "tall.npy")).code, 0);
}

#[test]
fn targets_count() {
    let sandbox = Sandbox::new("budget_targets");
    let mut draws = Draws(9);
    let mut text = String::from("a,b,c,y1,y2,y3\n");
    for _ in 0..150_000 {
        let row: Vec<String> = (0..6).map(|_| format!("{:.3}", draws.number())).collect();
        text += &(row.join(",") + "\n");
    }
    sandbox.write("t.csv", &text);
    let fit = [&fit("supervised-pca", "t.csv")[..], &["--target", "y1,y2,y3"]].concat();
    let ran = refused(&sandbox, 64 * MIB, &fit);
    assert!(ran.err.contains("the label kernel"), "{}", ran.err);
    refused(&sandbox, 64 * MIB, &[&fit[..], &["--plan"]].concat());
}

/// A table in one of the formats, with `classes` in a column of text where the format has one.
fn write_table(sandbox: &Sandbox, draws: &mut Draws, format: &str, n: usize, d: usize) -> String {
    let name = format!("t.{format}");
    if format == "mtx" {
        let mut text = format!("%%MatrixMarket matrix coordinate real general\n{n} {d} {n}\n");
        for i in 0..n {
            text += &format!("{} {} {}\n", i + 1, draws.below(d) + 1, 1.0 + draws.number());
        }
        sandbox.write(&name, &text);
        return name;
    }
    let header = Header {
        numbers: (0..d).map(|j| format!("c{j}")).collect(),
        n_rows: Some(n),
        ..Header::default()
    };
    let numbers = ndarray::Array2::from_shape_fn((n, d), |_| draws.number());
    let mut writer = table_writer(Output::create(&sandbox.path(&name), &[]).unwrap()).unwrap();
    writer.begin(&header).unwrap();
    writer.write(&[], numbers.view().into()).unwrap();
    writer.finish().unwrap();
    name
}

/// Methods, commands, shapes, formats and budgets at random. `BUDGET_RUNS=300` for a longer test.
#[test]
fn budgets_are_kept_whatever_is_asked_for() {
    let sandbox = Sandbox::new("budget_random");
    let runs = std::env::var("BUDGET_RUNS").ok().and_then(|n| n.parse().ok()).unwrap_or(12);
    let methods = [
        "pca",
        "lsa",
        "ppca",
        "sparse-pca",
        "kernel-pca",
        "mds",
        "isomap",
        "laplacian",
        "lle",
        "bayesian-pca",
        "ppca-mixture",
    ];
    let mut kept = 0;
    for seed in 1..=runs {
        let mut draws = Draws(0x9e37_79b9_7f4a_7c15 ^ (seed * 0x1234_5678_9abc_d1ef));
        let method = draws.one_of(&methods);
        let is_linear = ["pca", "lsa", "ppca"].contains(&method);
        let (n, d) = match is_linear {
            true => (1000 + draws.below(60_000), 2 + draws.below(60)),
            false => (50 + draws.below(1500), 2 + draws.below(20)),
        };
        let format = draws.one_of(&["csv", "npy", "parquet", "arrow", "mtx"]);
        let budget = (44 + draws.below(100)) as u64 * MIB;
        let data = write_table(&sandbox, &mut draws, format, n, d);
        let fit = [&fit(method, &data)[..], &["--scores", "s.csv"]].concat();
        let ran = within(&sandbox, budget, &fit);
        let what = format!("run {seed}: {method} of {n} × {d} as {format}: {}", ran.err);
        assert!([0, 1, 64, 65, 71].contains(&ran.code), "{} {what}", ran.code);
        if ran.code == 0 {
            kept += 1;
            let next: &[&str] = draws.one_of(&[
                &["transform", "m.safetensors", "DATA", "-o", "o.csv"][..],
                &["verify", "m.safetensors", "DATA"],
                &["plot", "m.safetensors", "DATA", "-o", "o.svg"],
                &["report", "m.safetensors", "DATA", "-o", "o.html"],
                &["inspect", "m.safetensors"],
                &["reconstruct", "m.safetensors", "DATA", "-o", "o.csv"],
                &["choose", "DATA"],
            ]);
            let next: Vec<&str> = next
                .iter()
                .map(|word| if *word == "DATA" { data.as_str() } else { *word })
                .collect();
            let ran = within(&sandbox, budget, &next);
            assert!([0, 1, 64, 65, 71].contains(&ran.code), "{what}\n{next:?}: {}", ran.err);
        }
    }
    assert!(kept > 0);
}

/// Limits from too little to enough: whatever allocation is the first that fails, it is exit code 71 or the
/// work is done, and nothing is left behind.
#[test]
fn a_system_without_memory_is_an_error_everywhere() {
    let sandbox = Sandbox::with("no_memory", &["digits", "iris"]);
    sandbox.ok(&["fit", "pca", "digits.csv", "-k", "2", "-o", "d.safetensors"]);
    let fit = |method| [&fit(method, "digits.csv")[..], &["--threads", "2"]].concat();
    let commands = [
        fit("pca"),
        fit("kernel-pca"),
        fit("isomap"),
        vec!["report", "d.safetensors", "digits.csv", "-o", "o.html", "--threads", "2"],
        vec!["transform", "d.safetensors", "digits.csv", "-o", "o.csv", "--threads", "2"],
    ];
    let before = sandbox.files();
    for command in &commands {
        let (mut refused, mut done) = (0, 0);
        for kilobytes in [60_000, 110_000, 200_000, 300_000, 450_000, 900_000] {
            let ran = limited(&sandbox, &format!("-v {kilobytes}"), command);
            match ran.code {
                0 => done += 1,
                71 => refused += 1,
                // Threads cannot be started: said as what it is.
                code => panic!("{code}, {kilobytes} kB, {command:?}: {}", ran.err),
            }
            if ran.code == 71 {
                assert!(ran.err.contains("error: "), "{}", ran.err);
                assert_eq!(sandbox.files(), before, "{kilobytes} kB, {command:?}");
            }
            for name in ["m.safetensors", "o.html", "o.csv"] {
                let _ = std::fs::remove_file(sandbox.path(name));
            }
        }
        assert!(refused > 0 && done > 0, "{command:?}: {refused} refused, {done} done");
    }
}

/// A file that may not grow, as on a full disk.
#[test]
fn files_that_cannot_grow_are_an_error_of_writing() {
    let sandbox = Sandbox::with("no_room", &["digits"]);
    let before = sandbox.files();
    let fit = [&fit("pca", "digits.csv")[..], &["--scores", "s.csv"]].concat();
    for blocks in [0, 1, 16] {
        let ran = limited(&sandbox, &format!("-f {blocks}"), &fit);
        assert_eq!(ran.code, 74, "{}", ran.err);
        assert!(ran.err.contains("writing failed"), "{}", ran.err);
        assert_eq!(sandbox.files(), before);
    }
}
