//! `eigenlens example`: small tables to try things on.

use crate::arguments::Example;
use crate::failure::Failure;
use crate::output;
use crate::reporter::Reporter;
use clap::builder::{PossibleValue, PossibleValuesParser};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::f64::consts::{PI, TAU};
use std::fmt::Write as _;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// A bundled or generated table.
struct Sample {
    name: &'static str,
    what: &'static str,
    /// The file it is written to.
    file: &'static str,
    bytes: fn() -> Vec<u8>,
}

const SAMPLES: &[Sample] = &[
    Sample {
        name: "iris",
        what: "150 flowers of three species, 4 measurements (Fisher 1936)",
        file: "iris.csv",
        bytes: || include_bytes!("../../data/iris.csv").to_vec(),
    },
    Sample {
        name: "usarrests",
        what: "50 US states in 1973, 4 numbers (McNeil 1977)",
        file: "usarrests.csv",
        bytes: || include_bytes!("../../data/usarrests.csv").to_vec(),
    },
    Sample {
        name: "wine",
        what: "178 wines of three cultivars, 13 measurements (Forina)",
        file: "wine.csv",
        bytes: || include_bytes!("../../data/wine.csv").to_vec(),
    },
    Sample {
        name: "digits",
        what: "1797 handwritten digits, 8 × 8 pixels (Alpaydin & Kaynak 1998)",
        file: "digits.csv",
        bytes: digits,
    },
    Sample {
        name: "circles",
        what: "400 points on two circles, one inside the other",
        file: "circles.csv",
        bytes: circles,
    },
    Sample {
        name: "moons",
        what: "400 points on two interlaced half moons",
        file: "moons.csv",
        bytes: moons,
    },
    Sample {
        name: "swiss-roll",
        what: "800 points on a rolled-up plane",
        file: "swiss-roll.csv",
        bytes: swiss_roll,
    },
];

/// The tables' names, for the parser.
pub fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(SAMPLES.iter().map(|s| PossibleValue::new(s.name).help(s.what)))
}

pub fn run(args: &Example, reporter: &Reporter) -> Result<(), Failure> {
    let Some(sample) = SAMPLES.iter().find(|sample| sample.name == args.name) else {
        return Err(Failure::Internal(format!("the table `{}` has no row", args.name)));
    };
    let bytes = (sample.bytes)();
    let path = args.output.clone().unwrap_or_else(|| PathBuf::from(sample.file));
    // Somebody's own file of that name must not go; ours may be written again.
    if path != Path::new("-") && std::fs::read(&path).is_ok_and(|found| found != bytes) {
        return Err(Failure::usage(
            format!("`{}` is there already, with another content", path.display()),
            format!("use `eigenlens example {} -o example-{}`", sample.name, sample.file),
        ));
    }
    if path == Path::new("-") {
        return output::print_bytes(&bytes);
    }
    output::write_bytes(&path, &bytes)?;
    reporter.info(format!("wrote {}: {}", path.display(), sample.what));
    Ok(())
}

fn digits() -> Vec<u8> {
    let mut bytes = Vec::new();
    let packed = &include_bytes!("../../data/digits.csv.gz")[..];
    // The packed bytes are part of the program, and a test unpacks them.
    let _ = flate2::read::GzDecoder::new(packed).read_to_end(&mut bytes);
    bytes
}

/// Generated tables always have the same seed: they are data, not draws.
struct Draws(ChaCha8Rng);

impl Draws {
    fn new() -> Draws {
        Draws(ChaCha8Rng::seed_from_u64(1))
    }

    fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) * 2f64.powi(-53)
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (TAU * self.uniform()).cos()
    }
}

fn circles() -> Vec<u8> {
    let mut draws = Draws::new();
    table("circle,x,y", 400, |i| {
        let (name, radius) = if i % 2 == 0 { ("outer", 1.0) } else { ("inner", 0.4) };
        let angle = TAU * (i / 2) as f64 / 200.0;
        let mut around = |place: f64| radius * place + 0.05 * draws.normal();
        (name, vec![around(angle.cos()), around(angle.sin())])
    })
}

fn moons() -> Vec<u8> {
    let mut draws = Draws::new();
    table("moon,x,y", 400, |i| {
        let angle = PI * (i / 2) as f64 / 199.0;
        let (name, x, y) = if i % 2 == 0 {
            ("upper", angle.cos(), angle.sin())
        } else {
            ("lower", 1.0 - angle.cos(), 0.5 - angle.sin())
        };
        (name, vec![x + 0.07 * draws.normal(), y + 0.07 * draws.normal()])
    })
}

fn swiss_roll() -> Vec<u8> {
    let mut draws = Draws::new();
    table("turn,x,y,z", 800, |_| {
        let angle = 1.5 * PI * (1.0 + 2.0 * draws.uniform());
        let name = ["first", "second", "third"][((angle / PI - 1.5) as usize).min(2)];
        (name, vec![angle * angle.cos(), 21.0 * draws.uniform(), angle * angle.sin()])
    })
}

fn table(
    header: &str,
    rows: usize,
    mut row: impl FnMut(usize) -> (&'static str, Vec<f64>),
) -> Vec<u8> {
    let mut text = format!("{header}\n");
    for i in 0..rows {
        let (name, numbers) = row(i);
        text.push_str(name);
        for number in numbers {
            // Writing to a string cannot fail.
            let _ = write!(text, ",{number:.6}");
        }
        text.push('\n');
    }
    text.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_tables_lie_where_their_names_say() {
        let text = String::from_utf8(circles()).unwrap();
        assert_eq!(text.lines().count(), 401);
        for line in text.lines().skip(1) {
            let fields: Vec<&str> = line.split(',').collect();
            let radius = fields[1].parse::<f64>().unwrap().hypot(fields[2].parse().unwrap());
            assert_eq!(radius > 0.7, fields[0] == "outer", "{line}");
        }
        assert_eq!(digits().iter().filter(|byte| **byte == b'\n').count(), 1798);
        for bytes in [moons(), swiss_roll()] {
            assert_eq!(bytes, if bytes.starts_with(b"moon") { moons() } else { swiss_roll() });
        }
    }
}
