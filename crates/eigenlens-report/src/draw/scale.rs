//! From values to places along an axis, and the ticks in between.

use crate::draw::number::{decimal, superscript};

/// A mark on an axis: where, in 0..=1 along it, and what stands beside it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tick {
    pub place: f64,
    pub text: String,
}

/// A map from values to places along an axis.
#[derive(Clone, Debug)]
pub(crate) struct Scale {
    kind: Kind,
    /// Ends of the axis: values divided by 10^exponent, or their decimal logarithms.
    low: f64,
    high: f64,
    /// Power of ten taken out of the numbers at the ticks.
    exponent: i32,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Linear,
    Percent,
    Log,
}

impl Scale {
    /// A linear axis over an interval, which is widened where it has no width.
    pub fn linear(low: f64, high: f64) -> Scale {
        Scale::plain(Kind::Linear, low, high)
    }

    /// A linear axis over shares, with per cents at its ticks.
    pub fn percent(low: f64, high: f64) -> Scale {
        let (low, high) = if high > low { (low, high) } else { (0.0, 1.0) };
        Scale { kind: Kind::Percent, low, high, exponent: 0 }
    }

    /// A linear axis over the values, with a margin of a share of their range at both ends.
    pub fn around(values: impl IntoIterator<Item = f64>, margin: f64) -> Scale {
        let (low, high) = extent(values);
        // Halves, because the range of the largest numbers is no number.
        let range = (high / 2.0 - low / 2.0) * 2.0 * margin;
        Scale::linear((low - range).max(f64::MIN), (high + range).min(f64::MAX))
    }

    /// A linear axis from zero to the largest value and a little more; below zero if values are.
    pub fn bars(values: impl IntoIterator<Item = f64>) -> Scale {
        let (low, high) = extent(values.into_iter().chain([0.0]));
        let grow = |v: f64| (v * 1.06).clamp(f64::MIN, f64::MAX);
        if low == 0.0 && high == 0.0 {
            return Scale::linear(0.0, 1.0);
        }
        Scale::linear(grow(low), grow(high))
    }

    /// A logarithmic axis over positive values.
    pub fn log(values: impl IntoIterator<Item = f64>) -> Scale {
        let (low, high) = extent(values.into_iter().map(f64::log10));
        let margin = ((high - low) * 0.04).max(0.1);
        Scale { kind: Kind::Log, low: low - margin, high: high + margin, exponent: 0 }
    }

    /// The same units per pixel as `other`, a scale at least as wide, around the middle of this one,
    /// on an axis that is `ratio` times as long.
    pub fn with_units_of(&self, other: &Scale, ratio: f64) -> Scale {
        let half = (other.high - other.low) * ratio / 2.0;
        let units = 10f64.powi(self.exponent - other.exponent);
        let middle = f64::midpoint(self.low, self.high) * units;
        Scale { low: middle - half, high: middle + half, ..other.clone() }
    }

    /// The length of this axis over that of another, both in values.
    pub fn ratio_to(&self, other: &Scale) -> f64 {
        let units = 10f64.powi(self.exponent - other.exponent);
        (self.high - self.low) * units / (other.high - other.low)
    }

    /// Where a value is along the axis; 0 and 1 are its ends.
    pub fn place(&self, value: f64) -> f64 {
        let value = match self.kind {
            Kind::Log => value.log10(),
            _ => divided(value, self.exponent),
        };
        (value - self.low) / (self.high - self.low)
    }

    /// About `count` ticks at round values.
    pub fn ticks(&self, count: f64) -> Vec<Tick> {
        match self.kind {
            Kind::Log => self.log_ticks(count),
            _ => self.linear_ticks(count),
        }
    }

    /// What to add to the axis label when a power of ten was taken out of the ticks.
    pub fn unit(&self) -> Option<String> {
        (self.exponent != 0).then(|| format!("×10{}", superscript(self.exponent)))
    }

    fn plain(kind: Kind, low: f64, high: f64) -> Scale {
        let largest = low.abs().max(high.abs());
        let exponent = match largest {
            0.0 => 0,
            _ if (1e-3..1e5).contains(&largest) => 0,
            _ => largest.log10().floor() as i32,
        };
        let (mut low, mut high) = (divided(low, exponent), divided(high, exponent));
        // Equal ends, or ends that rounding makes equal, still get an axis of some length.
        let least = low.abs().max(high.abs()) * 1e-12;
        if high - low <= least {
            let pad = if low == 0.0 { 1.0 } else { low.abs() * 0.5 };
            (low, high) = (low - pad, high + pad);
        }
        Scale { kind, low, high, exponent }
    }

    fn linear_ticks(&self, count: f64) -> Vec<Tick> {
        let percent = self.kind == Kind::Percent;
        let factor = if percent { 100.0 } else { 1.0 };
        let (low, high) = (self.low * factor, self.high * factor);
        let (step, decimals) = nice_step((high - low) / count.max(1.0));
        let first = (low / step - 1e-9).ceil() as i64;
        let last = (high / step + 1e-9).floor() as i64;
        (first..=last)
            .take(100)
            .map(|index| {
                let value = index as f64 * step;
                let text = decimal(value, decimals);
                Tick {
                    place: ((value - low) / (high - low)).clamp(0.0, 1.0),
                    text: if percent { format!("{text} %") } else { text },
                }
            })
            .collect()
    }

    fn log_ticks(&self, count: f64) -> Vec<Tick> {
        let decades = self.high - self.low;
        let step = (decades / count.max(1.0)).ceil().max(1.0);
        // Few decades leave room for 2 and 5, very few for every digit.
        let digits: &[f64] = if decades < 1.0 {
            &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]
        } else if decades * 3.0 <= count {
            &[1.0, 2.0, 5.0]
        } else {
            &[1.0]
        };
        let plain = self.low > -3.5 && self.high < 5.5;
        let mut ticks = Vec::new();
        let mut decade = (self.low / step).floor() * step;
        while decade <= self.high && ticks.len() < 100 {
            for digit in digits {
                let place = (decade + digit.log10() - self.low) / decades;
                if (0.0..=1.0).contains(&place) {
                    ticks.push(Tick { place, text: log_text(*digit, decade as i32, plain) });
                }
            }
            decade += step;
        }
        ticks
    }
}

/// The round step (1, 2, 2.5 or 5 times a power of ten) nearest to `raw` by ratio, and the decimals
/// its multiples need.
pub(crate) fn nice_step(raw: f64) -> (f64, usize) {
    let exponent = raw.log10().floor();
    let power = 10f64.powf(exponent);
    let away = |digit: f64| (digit * power / raw).ln().abs();
    let (digit, extra) = [(2.0, 0), (2.5, 1), (5.0, 0), (10.0, -1)]
        .into_iter()
        .fold((1.0, 0), |best, next| if away(next.0) < away(best.0) { next } else { best });
    let decimals = (extra - exponent as i32).clamp(0, 14) as usize;
    (digit * power, decimals)
}

fn log_text(digit: f64, decade: i32, plain: bool) -> String {
    if plain {
        return decimal(digit * 10f64.powi(decade), (-decade).max(0) as usize);
    }
    let power = format!("10{}", superscript(decade));
    if digit == 1.0 { power } else { format!("{digit}×{power}") }
}

/// The value divided by a power of ten, in two steps: one power alone may not be a number.
fn divided(value: f64, exponent: i32) -> f64 {
    let half = exponent / 2;
    value * 10f64.powi(-half) * 10f64.powi(half - exponent)
}

fn extent(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let (low, high) = values
        .into_iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
    if low <= high { (low, high) } else { (0.0, 0.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(scale: &Scale, count: f64) -> Vec<String> {
        scale.ticks(count).into_iter().map(|tick| tick.text).collect()
    }

    #[test]
    fn ticks_are_round_and_where_they_say() {
        let scale = Scale::linear(-1.3, 4.1);
        assert_eq!(texts(&scale, 6.0), ["−1", "0", "1", "2", "3", "4"]);
        let tick = &scale.ticks(6.0)[1];
        assert!((tick.place - scale.place(0.0)).abs() < 1e-12);
        assert_eq!(
            texts(&Scale::percent(0.0, 1.0), 5.0),
            ["0 %", "20 %", "40 %", "60 %", "80 %", "100 %"]
        );
        assert_eq!(texts(&Scale::linear(0.0, 1.0), 4.0), ["0.00", "0.25", "0.50", "0.75", "1.00"]);
    }

    #[test]
    fn powers_of_ten_leave_the_ticks() {
        let scale = Scale::linear(0.0, 3.2e7);
        assert_eq!(texts(&scale, 4.0), ["0", "1", "2", "3"]);
        assert_eq!(scale.unit().as_deref(), Some("×10⁷"));
        assert_eq!(Scale::linear(0.0, 99.0).unit(), None);
    }

    #[test]
    fn any_numbers_make_an_axis() {
        for values in [
            vec![],
            vec![0.0],
            vec![7.0, 7.0],
            vec![-1e308, 1e308],
            vec![f64::MIN, f64::MAX],
            vec![5e-324, 1e-320],
            vec![1e10, 1e10 + 1e-5],
            vec![-3e-300, 2e-300],
        ] {
            for scale in
                [Scale::around(values.iter().copied(), 0.05), Scale::bars(values.iter().copied())]
            {
                let ticks = scale.ticks(6.0);
                assert!(!ticks.is_empty() && ticks.len() < 20, "{values:?} {ticks:?}");
                for value in &values {
                    let place = scale.place(*value);
                    assert!((0.0..=1.0).contains(&place), "{values:?}: {value} at {place}");
                }
            }
        }
    }

    #[test]
    fn logarithmic_ticks() {
        assert_eq!(texts(&Scale::log([1.0, 1000.0]), 4.0), ["1", "10", "100", "1000"]);
        assert_eq!(texts(&Scale::log([1e-9, 1e-6]), 4.0), ["10⁻⁹", "10⁻⁸", "10⁻⁷", "10⁻⁶"]);
        assert!(texts(&Scale::log([3.0, 5.0]), 5.0).len() >= 3);
        assert!(texts(&Scale::log([1e-300, 1e300]), 6.0).len() <= 8);
    }

    #[test]
    fn equal_units() {
        let x = Scale::linear(0.0, 4.0);
        let y = Scale::linear(0.0, 1.0).with_units_of(&x, 0.5);
        assert!((y.ratio_to(&x) - 0.5).abs() < 1e-12);
        assert!((y.place(0.5) - 0.5).abs() < 1e-12);
        let large = Scale::linear(-1e300, 3e300);
        let small = Scale::linear(0.0, 1e-300).with_units_of(&large, 0.5);
        assert!((small.place(1e-300) - 0.5).abs() < 1e-12);
        assert!(!small.ticks(5.0).is_empty());
    }
}
