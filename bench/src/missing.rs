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
    println!("cost of one iteration, least of {TURNS} turns\n");
    println!(
        "{:>16}  {:>3}  {:>8}  {:>12}  {:>9}  {:>10}  {:>8}",
        "samples × d", "k", "missing", "observed", "ms", "ns/entry", "off line"
    );
    let base = 20_000 / shrink;
    let case = |n: usize, d: usize, k: usize, rate: f64| Case { n, d, k, rate };
    for k in [5, 10] {
        let sizes = [base / 4, base / 2, base, 2 * base, 4 * base];
        line_through(&sizes.map(|n| case(n, 100, k, 0.2)))?;
        line_through(&[50, 100, 200, 400, 800].map(|d| case(base, d, k, 0.2)))?;
        for d in [100, 400] {
            let rates = [0.05, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];
            line_through(&rates.map(|rate| case(base, d, k, rate)))?;
        }
    }
    Ok(())
}

/// Turns that all cases of a line take: what disturbs the machine for a while disturbs all of them.
const TURNS: usize = 9;

struct Case {
    n: usize,
    d: usize,
    k: usize,
    rate: f64,
}

/// Measures some cases, and prints how far each is from the line through all of them.
fn line_through(cases: &[Case]) -> Result<(), Box<dyn Error>> {
    let tables: Vec<_> = cases.iter().map(|c| table(c.n, c.d, c.k, c.rate)).collect();
    let mut least = vec![[f64::INFINITY; 2]; cases.len()];
    for _ in 0..TURNS {
        for ((case, x), least) in cases.iter().zip(&tables).zip(&mut least) {
            for (steps, least) in [FEW, FEW + STEPS].into_iter().zip(least) {
                *least = least.min(iterate(x, case.k, steps)?);
            }
        }
    }
    let costs: Vec<Cost> = (cases.iter().zip(&tables).zip(&least))
        .map(|((case, x), [few, more])| Cost {
            rows: case.n as f64,
            entries: x.iter().filter(|v| !v.is_nan()).count() as f64,
            // The difference leaves out what every fit does once.
            seconds: (more - few) / STEPS as f64,
        })
        .collect();
    let (per_entry, per_row) = line(&costs);
    for (Case { n, d, k, rate }, Cost { rows, entries, seconds }) in cases.iter().zip(&costs) {
        let expected = per_entry * entries + per_row * rows;
        println!(
            "{:>16}  {k:>3}  {:>6.0} %  {entries:>12}  {:>9.3}  {:>10.2}  {:>+6.0} %",
            format!("{n} × {d}"),
            100.0 * rate,
            1e3 * seconds,
            1e9 * seconds / entries,
            100.0 * (seconds / expected - 1.0)
        );
    }
    let (entry, row) = (1e9 * per_entry, 1e9 * per_row);
    println!("{:>16}  {entry:.2} ns an observed entry + {row:.0} ns a row\n", "line:");
    Ok(())
}

/// Iterations that every fit makes, and that it makes more to be timed.
const FEW: usize = 2;
const STEPS: usize = 20;

/// Seconds of a fit that makes so many plain iterations.
fn iterate(x: &Array2<f64>, k: usize, steps: usize) -> Result<f64, Box<dyn Error>> {
    let data = Dataset::from(x).with_missing(Missing::Em).with_most_missing(1.0);
    let options = Options { max_iterations: steps, tolerance: Some(1e-15), ..options() };
    let fit = Ppca::new(k).algorithm(Algorithm::PlainEm).options(options);
    Ok(seconds(|| fit.fit(&data))?.0)
}

struct Cost {
    rows: f64,
    entries: f64,
    seconds: f64,
}

/// Seconds for an entry and for a row, by least squares of what is off, as a share of what was measured:
/// small tables count as much as large ones.
fn line(costs: &[Cost]) -> (f64, f64) {
    // The normal equations of `entries/seconds · a + rows/seconds · b = 1`.
    let (mut ee, mut er, mut rr, mut e, mut r) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for Cost { rows, entries, seconds } in costs {
        let (x, y) = (entries / seconds, rows / seconds);
        (ee, er, rr) = (ee + x * x, er + x * y, rr + y * y);
        (e, r) = (e + x, r + y);
    }
    let determinant = ee * rr - er * er;
    // Where entries go with rows there is no telling them apart.
    if determinant < 1e-3 * ee * rr {
        return (e / ee, 0.0);
    }
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
