//! Enough numerics to fill the pictures: a table reader, a small PCA, seeded random numbers.

use std::f64::consts::TAU;

pub struct Data {
    pub names: Vec<String>,
    pub features: Vec<String>,
    pub rows: Vec<Vec<f64>>,
}

pub struct Pca {
    /// Variances, largest first.
    pub variances: Vec<f64>,
    /// Unit vectors, a row per component.
    pub components: Vec<Vec<f64>>,
    /// A row per sample.
    pub scores: Vec<Vec<f64>>,
}

impl Pca {
    pub fn shares(&self) -> Vec<f64> {
        let total: f64 = self.variances.iter().sum();
        self.variances.iter().map(|variance| variance / total).collect()
    }

    pub fn cumulative(&self) -> Vec<f64> {
        self.shares()
            .iter()
            .scan(0.0, |sum, share| {
                *sum += share;
                Some(*sum)
            })
            .collect()
    }

    pub fn plane(&self) -> Vec<[f64; 2]> {
        self.scores.iter().map(|score| [score[0], score[1]]).collect()
    }

    /// Loading of a feature on a component: the component's entry times the standard deviation.
    pub fn loading(&self, component: usize, feature: usize) -> f64 {
        self.components[component][feature] * self.variances[component].sqrt()
    }
}

pub fn read(path: &str, with_names: bool) -> Data {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../golden/");
    let text = std::fs::read_to_string(format!("{root}{path}")).expect("the golden data are there");
    let mut lines = text.lines();
    let first = usize::from(with_names);
    let features = lines.next().unwrap_or("").split(',').skip(first).map(str::to_owned).collect();
    let (mut names, mut rows) = (Vec::new(), Vec::new());
    for line in lines.filter(|line| !line.is_empty()) {
        let cells: Vec<&str> = line.split(',').collect();
        names.push(cells[0].to_owned());
        rows.push(cells[first..].iter().map(|cell| cell.parse().expect("a number")).collect());
    }
    Data { names, features, rows }
}

/// PCA of centred (and scaled) rows by Jacobi rotations of the covariance matrix.
pub fn pca(rows: &[Vec<f64>], scale: bool) -> Pca {
    let (n, d) = (rows.len() as f64, rows[0].len());
    let mean: Vec<f64> = (0..d).map(|j| rows.iter().map(|row| row[j]).sum::<f64>() / n).collect();
    let spread: Vec<f64> = (0..d)
        .map(|j| {
            let sum: f64 = rows.iter().map(|row| (row[j] - mean[j]).powi(2)).sum();
            if scale { (sum / (n - 1.0)).sqrt() } else { 1.0 }
        })
        .collect();
    let centred: Vec<Vec<f64>> =
        rows.iter().map(|row| (0..d).map(|j| (row[j] - mean[j]) / spread[j]).collect()).collect();
    let mut a: Vec<Vec<f64>> = (0..d)
        .map(|i| {
            (0..d).map(|j| centred.iter().map(|r| r[i] * r[j]).sum::<f64>() / (n - 1.0)).collect()
        })
        .collect();
    let mut v: Vec<Vec<f64>> =
        (0..d).map(|i| (0..d).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    for _ in 0..60 {
        for p in 0..d {
            for q in p + 1..d {
                let angle = 0.5 * (2.0 * a[p][q]).atan2(a[q][q] - a[p][p]);
                let (s, c) = angle.sin_cos();
                for k in 0..d {
                    (a[k][p], a[k][q]) = (c * a[k][p] - s * a[k][q], s * a[k][p] + c * a[k][q]);
                }
                for k in 0..d {
                    (a[p][k], a[q][k]) = (c * a[p][k] - s * a[q][k], s * a[p][k] + c * a[q][k]);
                    (v[p][k], v[q][k]) = (c * v[p][k] - s * v[q][k], s * v[p][k] + c * v[q][k]);
                }
            }
        }
    }
    let mut order: Vec<usize> = (0..d).collect();
    order.sort_by(|i, j| a[*j][*j].total_cmp(&a[*i][*i]));
    let components: Vec<Vec<f64>> = order.iter().map(|i| v[*i].clone()).collect();
    let dot = |row: &[f64], u: &[f64]| row.iter().zip(u).map(|(x, y)| x * y).sum::<f64>();
    let scores = centred
        .iter()
        .map(|row| components.iter().map(|component| dot(row, component)).collect())
        .collect();
    Pca { variances: order.iter().map(|i| a[*i][*i]).collect(), components, scores }
}

/// Seeded random numbers (splitmix64).
pub struct Random(pub u64);

impl Random {
    pub fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (((z ^ (z >> 31)) >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    pub fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (TAU * self.uniform()).cos()
    }
}
