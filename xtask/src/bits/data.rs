//! The tables that both programs are given: drawn from a fixed seed, small, of every shape and kind.

use std::f64::consts::TAU;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Writes every table into a folder.
pub fn write(folder: &Path) -> Result<(), String> {
    let save = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        fs::write(&path, bytes).map_err(|e| format!("`{}` cannot be written: {e}", path.display()))
    };
    let both = |name: &str, x: &Matrix| {
        save(&format!("{name}-f64.npy"), &x.npy_f64())?;
        save(&format!("{name}-f32.npy"), &x.npy_f32())
    };
    let mut draws = Draws(1);
    let tall = draws.low_rank(2000, 12);
    both("tall", &tall)?;
    save("tall.csv", draws.with_columns(&tall).as_bytes())?;
    both("wide", &draws.low_rank(40, 300))?;
    both("square", &draws.low_rank(150, 150))?;
    both("offset", &draws.low_rank(800, 8).map(|v| v + 1e4))?;
    let whole = draws.whole(1000, 24, 0.3, 17);
    both("whole", &whole)?;
    save("whole.csv", whole.csv().as_bytes())?;
    both("pixels", &draws.whole(700, 400, 0.7, 256))?;

    let holed = draws.low_rank(400, 10);
    let few = draws.holes(&holed, 0.05, 5);
    both("few-holes", &few)?;
    save("few-holes.csv", few.csv().as_bytes())?;
    let many = draws.low_rank(300, 12);
    both("many-holes", &draws.holes(&many, 0.6, 12))?;

    save("counts.mtx", draws.whole(500, 80, 0.92, 9).matrix_market().as_bytes())?;
    let sparse = draws.low_rank(60, 400);
    save("wide.mtx", draws.zeros(&sparse, 0.9).matrix_market().as_bytes())?;

    let roll = draws.roll(350);
    both("roll", &roll)?;
    let some = Matrix { columns: 3, numbers: roll.numbers[..3 * 60].to_vec() };
    save("distances.csv", some.pairs(f64::sqrt).csv().as_bytes())?;
    save("kernel.csv", some.pairs(|square| (-0.05 * square).exp()).csv().as_bytes())?;

    // Large enough that a budget of some MiB has them streamed.
    let long = draws.low_rank(200_000, 12);
    both("long", &long)?;
    let half = Matrix { columns: 12, numbers: long.numbers[..12 * 100_000].to_vec() };
    save("long.csv", draws.with_columns(&half).as_bytes())?;
    let holed = draws.holes(&long, 0.05, 6);
    save("long-holes-f64.npy", &holed.npy_f64())
}

/// Rows of numbers.
struct Matrix {
    columns: usize,
    numbers: Vec<f64>,
}

/// SplitMix64: the same numbers everywhere, from one counter.
struct Draws(u64);

impl Draws {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Between 0 and 1, neither of them.
    fn uniform(&mut self) -> f64 {
        ((self.bits() >> 11) as f64 + 0.5) * 2f64.powi(-53)
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (TAU * self.uniform()).cos()
    }

    /// A few strong directions, noise, and a mean of its own for every column.
    fn low_rank(&mut self, rows: usize, columns: usize) -> Matrix {
        const STRONG: usize = 5;
        let directions: Vec<f64> = (0..STRONG * columns).map(|_| self.normal()).collect();
        let means: Vec<f64> = (0..columns).map(|_| 3.0 * self.normal()).collect();
        let mut numbers = Vec::with_capacity(rows * columns);
        for _ in 0..rows {
            let factors: Vec<f64> =
                (0..STRONG).map(|i| self.normal() * 2f64.powi(2 - i as i32)).collect();
            for (column, mean) in means.iter().enumerate() {
                let parts = factors.iter().zip(directions.iter().skip(column).step_by(columns));
                let strong: f64 = parts.map(|(factor, direction)| factor * direction).sum();
                numbers.push(mean + strong + 0.3 * self.normal());
            }
        }
        Matrix { columns, numbers }
    }

    /// Whole numbers below `end` that go up and down together, some of them 0.
    fn whole(&mut self, rows: usize, columns: usize, zeros: f64, end: u32) -> Matrix {
        let mut numbers = Vec::with_capacity(rows * columns);
        for _ in 0..rows {
            let level = self.uniform();
            for _ in 0..columns {
                let value = (f64::from(end) * level * self.uniform().sqrt()).floor();
                numbers.push(if self.uniform() < zeros { 0.0 } else { value });
            }
        }
        Matrix { columns, numbers }
    }

    /// A rolled-up plane.
    fn roll(&mut self, rows: usize) -> Matrix {
        let point = |turn: f64, height: f64| [turn * turn.cos(), height, turn * turn.sin()];
        let points = (0..rows).map(|_| point(4.5 + 7.0 * self.uniform(), 20.0 * self.uniform()));
        Matrix { columns: 3, numbers: points.flatten().collect() }
    }

    /// The same with a share of the first columns' entries missing.
    fn holes(&mut self, x: &Matrix, share: f64, columns: usize) -> Matrix {
        let hole = |at: usize| at % x.columns < columns && self.uniform() < share;
        x.replaced(hole, f64::NAN)
    }

    /// The same with a share of the entries 0.
    fn zeros(&mut self, x: &Matrix, share: f64) -> Matrix {
        x.replaced(|_| self.uniform() < share, 0.0)
    }

    /// With a class, a number to look for and a weight of every sample beside the features.
    fn with_columns(&mut self, x: &Matrix) -> String {
        let names = x.names().join(",");
        let mut text = format!("class,goal,weight,{names}\n");
        for row in x.rows() {
            let class = if row[0] + row[1] > 0.0 { "above" } else { "below" };
            let class = if self.uniform() < 0.2 { "neither" } else { class };
            let (goal, weight) = (row[0] - row[2] + self.normal(), 1 + self.bits() % 4);
            let _ = writeln!(text, "{class},{goal},{weight},{}", joined(row));
        }
        text
    }
}

impl Matrix {
    fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.numbers.chunks(self.columns)
    }

    fn names(&self) -> Vec<String> {
        (1..=self.columns).map(|column| format!("x{column}")).collect()
    }

    fn map(&self, change: impl Fn(f64) -> f64) -> Matrix {
        let numbers = self.numbers.iter().map(|v| change(*v)).collect();
        Matrix { columns: self.columns, numbers }
    }

    fn replaced(&self, mut at: impl FnMut(usize) -> bool, with: f64) -> Matrix {
        let each = self.numbers.iter().enumerate();
        let numbers = each.map(|(i, v)| if at(i) { with } else { *v }).collect();
        Matrix { columns: self.columns, numbers }
    }

    /// A function of the squared distances between all rows.
    fn pairs(&self, of: impl Fn(f64) -> f64) -> Matrix {
        let square = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| (x - y).powi(2)).sum();
        let numbers = self.rows().flat_map(|a| self.rows().map(move |b| (a, b)));
        let numbers = numbers.map(|(a, b)| of(square(a, b))).collect();
        Matrix { columns: self.rows().count(), numbers }
    }

    fn csv(&self) -> String {
        let rows = self.rows().map(|row| format!("{}\n", joined(row)));
        format!("{}\n{}", self.names().join(","), rows.collect::<String>())
    }

    fn npy_f64(&self) -> Vec<u8> {
        self.npy("<f8", self.numbers.iter().flat_map(|v| v.to_le_bytes()))
    }

    fn npy_f32(&self) -> Vec<u8> {
        self.npy("<f4", self.numbers.iter().flat_map(|v| (*v as f32).to_le_bytes()))
    }

    fn npy(&self, kind: &str, numbers: impl Iterator<Item = u8>) -> Vec<u8> {
        let (rows, columns) = (self.rows().count(), self.columns);
        let words = format!(
            "{{'descr': '{kind}', 'fortran_order': False, 'shape': ({rows}, {columns}), }}"
        );
        // Ten bytes come before it; the numbers begin at a multiple of 64.
        let header = format!("{words:<117}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(numbers);
        bytes
    }

    fn matrix_market(&self) -> String {
        let stored = self.numbers.iter().filter(|v| **v != 0.0).count();
        let mut text = "%%MatrixMarket matrix coordinate real general\n".to_string();
        let _ = writeln!(text, "{} {} {stored}", self.rows().count(), self.columns);
        for (row, numbers) in self.rows().enumerate() {
            for (column, value) in numbers.iter().enumerate().filter(|(_, v)| **v != 0.0) {
                let _ = writeln!(text, "{} {} {value}", row + 1, column + 1);
            }
        }
        text
    }
}

/// Numbers with commas between them, nothing where one is missing.
fn joined(row: &[f64]) -> String {
    let cell = |v: &f64| if v.is_nan() { String::new() } else { v.to_string() };
    row.iter().map(cell).collect::<Vec<_>>().join(",")
}
