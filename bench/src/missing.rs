//! Probabilistic PCA and missing values: the closed form beside PCA, the iteration beside the `ppca`
//! crate, and how its cost grows. `cargo xtask bench missing`.

use eigenlens::{Algorithm, Dataset, Missing, Options, Pca, Ppca};
use ndarray::Array2;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::error::Error;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

const RUNS: usize = 5;

/// Everything in one run, on two threads.
pub fn run(peer: Option<&str>, quick: bool, directory: &Path) -> Result<(), Box<dyn Error>> {
    let shrink = if quick { 20 } else { 1 };
    closed_form(200_000 / shrink)?;
    iteration(peer, 20_000 / shrink, directory)?;
    scaling(shrink)
}

fn options() -> Options {
    Options { threads: Some(2), ..Options::default() }
}

/// The closed form and PCA, taking turns.
fn closed_form(rows: usize) -> Result<(), Box<dyn Error>> {
    // Short fits that differ by little: many of them.
    const TURNS: usize = 25;
    println!("closed form beside PCA (fit and scores, k = 5), seconds, median of {TURNS}\n");
    println!("{:>16}  {:>8}  {:>8}  {:>6}", "samples × d", "pca", "ppca", "ratio");
    for (n, d) in [(rows, 100), (rows / 20, 1000)] {
        let x = table(n, d, 5, 0.0);
        let data = Dataset::from(&x);
        let (mut pca, mut ppca) = (Vec::new(), Vec::new());
        for run in 0..=TURNS {
            let first = seconds(|| Pca::new(5).options(options()).fit_transform(&data))?;
            let second = seconds(|| Ppca::new(5).options(options()).fit_transform(&data))?;
            // The first turn warms up.
            if run > 0 {
                pca.push(first.0);
                ppca.push(second.0);
            }
        }
        let (a, b) = (median(&mut pca), median(&mut ppca));
        println!("{:>16}  {a:>8.4}  {b:>8.4}  {:>6.3}", format!("{n} × {d}"), b / a);
    }
    println!();
    Ok(())
}

/// The iteration on 20 % missing entries, and the peer until it is as likely.
fn iteration(peer: Option<&str>, n: usize, directory: &Path) -> Result<(), Box<dyn Error>> {
    let (d, k, rate) = (100, 5, 0.2);
    let x = table(n, d, k, rate);
    let data = Dataset::from(&x).with_missing(Missing::Em);
    let mut times = Vec::new();
    let mut last = None;
    for run in 0..=RUNS {
        let (time, model) = seconds(|| Ppca::new(k).options(options()).fit(&data))?;
        if run > 0 {
            times.push(time);
        }
        last = Some(model);
    }
    let model = last.ok_or("no run")?;
    let ours = median(&mut times);
    let record = model.em().ok_or("no iteration")?;
    let target = model.training_log_likelihood()?;
    println!("em on {n} × {d}, k = {k}, {:.0} % missing, two threads\n", 100.0 * rate);
    println!(
        "{:>12}  {:>9}  {:>10}  {:>12}  {:>18}",
        "program", "seconds", "iterations", "ms/iteration", "log-likelihood"
    );
    let row = |name: &str, seconds: f64, iterations: usize, likelihood: f64| {
        let each = 1e3 * seconds / iterations.max(1) as f64;
        println!("{name:>12}  {seconds:>9.3}  {iterations:>10}  {each:>12.2}  {likelihood:>18.3}");
    };
    row("eigenlens", ours, record.iterations, target);
    if let Some(peer) = peer {
        let file = directory.join("missing.f64");
        std::fs::create_dir_all(directory)?;
        let bytes: Vec<u8> = x.iter().flat_map(|v| v.to_le_bytes()).collect();
        std::fs::write(&file, bytes)?;
        let arguments = [n, d, k].map(|v| v.to_string());
        let output = Command::new(peer)
            .arg(&file)
            .args(arguments)
            .args([target.to_string(), "200".into()])
            .output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let field = |name: &str| -> Option<f64> {
            let rest = &text[text.find(&format!("\"{name}\": "))? + name.len() + 4..];
            rest[..rest.find([',', '}'])?].trim().parse().ok()
        };
        let theirs = (field("seconds"), field("iterations"), field("log_likelihood"));
        let (Some(seconds), Some(iterations), Some(likelihood)) = theirs else {
            return Err(format!(
                "the peer said: {text}{}",
                String::from_utf8_lossy(&output.stderr)
            )
            .into());
        };
        row("ppca 0.5.0", seconds, iterations as usize, likelihood);
        println!("\neigenlens takes {:.1} times less time", seconds / ours);
    }
    println!();
    Ok(())
}

/// Time of one iteration, for more and more observed entries.
fn scaling(shrink: usize) -> Result<(), Box<dyn Error>> {
    println!("cost of one iteration, median of {RUNS}\n");
    println!(
        "{:>16}  {:>3}  {:>8}  {:>12}  {:>9}  {:>10}",
        "samples × d", "k", "missing", "observed", "ms", "ns/entry"
    );
    let base = 20_000 / shrink;
    for n in [base / 4, base / 2, base, 2 * base, 4 * base] {
        cost(n, 100, 5, 0.2)?;
    }
    for d in [50, 200, 400, 800] {
        cost(base, d, 5, 0.2)?;
    }
    for k in [2, 10] {
        cost(base, 100, k, 0.2)?;
    }
    for k in [5, 10] {
        for d in [100, 400] {
            println!();
            let rates = [0.05, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];
            let costs: Vec<_> =
                rates.iter().map(|&rate| cost(base, d, k, rate)).collect::<Result<_, _>>()?;
            let (per_entry, per_row) = line(base as f64, &costs);
            println!(
                "{d} features, k = {k}: {:.2} ns an observed entry + {:.0} ns a row; beside that line",
                1e9 * per_entry,
                1e9 * per_row
            );
            for (rate, (entries, seconds)) in rates.iter().zip(&costs) {
                let expected = per_entry * entries + per_row * base as f64;
                let off = 100.0 * (seconds / expected - 1.0);
                println!("{:>6.0} % missing: {off:+.0} %", 100.0 * rate);
            }
        }
    }
    Ok(())
}

/// Observed entries of a table and the seconds of one iteration on it, also printed.
fn cost(n: usize, d: usize, k: usize, rate: f64) -> Result<(f64, f64), Box<dyn Error>> {
    const STEPS: usize = 20;
    let x = table(n, d, k, rate);
    let data = Dataset::from(&x).with_missing(Missing::Em).with_most_missing(1.0);
    let time = |steps: usize| -> Result<f64, Box<dyn Error>> {
        let options = Options { max_iterations: steps, tolerance: Some(1e-15), ..options() };
        let fit = Ppca::new(k).algorithm(Algorithm::PlainEm).options(options);
        let mut times = Vec::new();
        for _ in 0..RUNS {
            times.push(seconds(|| fit.fit(&data))?.0);
        }
        Ok(median(&mut times))
    };
    // The difference leaves out what every fit does once.
    let each = (time(STEPS + 2)? - time(2)?) / STEPS as f64;
    let observed = x.iter().filter(|v| !v.is_nan()).count() as f64;
    println!(
        "{:>16}  {k:>3}  {:>6.0} %  {observed:>12}  {:>9.3}  {:>10.2}",
        format!("{n} × {d}"),
        100.0 * rate,
        1e3 * each,
        1e9 * each / observed
    );
    Ok((observed, each))
}

/// Seconds for an entry and for a row, by least squares of what is off, as a share of what was measured:
/// small tables count as much as large ones.
fn line(rows: f64, costs: &[(f64, f64)]) -> (f64, f64) {
    // The normal equations of `entries/seconds · a + rows/seconds · b = 1`.
    let (mut ee, mut er, mut rr, mut e, mut r) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for (entries, seconds) in costs {
        let (x, y) = (entries / seconds, rows / seconds);
        (ee, er, rr) = (ee + x * x, er + x * y, rr + y * y);
        (e, r) = (e + x, r + y);
    }
    let determinant = ee * rr - er * er;
    ((e * rr - r * er) / determinant, (r * ee - e * er) / determinant)
}

/// Rank k plus noise, with holes at random.
fn table(n: usize, d: usize, k: usize, rate: f64) -> Array2<f64> {
    let mut uniform = uniforms(5);
    let mut normal =
        move || (-2.0 * uniform().ln()).sqrt() * (std::f64::consts::TAU * uniform()).cos();
    let w = Array2::from_shape_simple_fn((k, d), &mut normal);
    let z = Array2::from_shape_simple_fn((n, k), &mut normal);
    let mut x = z.dot(&w);
    x.mapv_inplace(|v| v + 5.0 + 0.7 * normal());
    let mut holes = uniforms(6);
    x.mapv(|v| if holes() < rate { f64::NAN } else { v })
}

/// Uniform numbers on (0, 1).
fn uniforms(seed: u64) -> impl FnMut() -> f64 {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    move || ((rng.next_u64() >> 11) as f64 + 0.5) * 2f64.powi(-53)
}

fn seconds<R>(work: impl FnOnce() -> eigenlens::Result<R>) -> Result<(f64, R), Box<dyn Error>> {
    let start = Instant::now();
    let found = work()?;
    Ok((start.elapsed().as_secs_f64(), found))
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
