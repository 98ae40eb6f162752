//! Colours and colour scales.

use std::fmt;

/// A colour, eight bits each of red, green and blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rgb(pub u8, pub u8, pub u8);

impl Rgb {
    /// The colour a share `t` of the way from `self` to `other`.
    pub fn mix(self, other: Rgb, t: f64) -> Rgb {
        let channel =
            |a: u8, b: u8| (f64::from(a) + (f64::from(b) - f64::from(a)) * t).round() as u8;
        Rgb(channel(self.0, other.0), channel(self.1, other.1), channel(self.2, other.2))
    }

    /// Whether dark text is easier to read on this colour than white text.
    pub fn is_light(self) -> bool {
        let luma =
            0.299 * f64::from(self.0) + 0.587 * f64::from(self.1) + 0.114 * f64::from(self.2);
        luma > 150.0
    }
}

impl fmt::Display for Rgb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }
}

/// Viridis at `t` in 0..=1: even steps for the eye, and a rising lightness that survives a grey
/// printer. The palest yellow is left out, it vanishes on white.
pub(crate) fn sequential(t: f64) -> Rgb {
    const STOPS: [Rgb; 8] = [
        Rgb(0x44, 0x01, 0x54),
        Rgb(0x46, 0x32, 0x7e),
        Rgb(0x36, 0x5c, 0x8d),
        Rgb(0x27, 0x7f, 0x8e),
        Rgb(0x1f, 0xa1, 0x87),
        Rgb(0x4a, 0xc1, 0x6d),
        Rgb(0x8f, 0xd7, 0x44),
        Rgb(0xc8, 0xe0, 0x20),
    ];
    along(&STOPS, t)
}

/// Orange for −1, near white for 0, blue for 1: told apart with every kind of colour blindness.
pub(crate) fn diverging(t: f64) -> Rgb {
    const STOPS: [Rgb; 7] = [
        Rgb(0x8f, 0x3b, 0x00),
        Rgb(0xd5, 0x5e, 0x00),
        Rgb(0xf2, 0xb2, 0x7e),
        Rgb(0xf9, 0xf8, 0xf6),
        Rgb(0x8f, 0xc1, 0xe3),
        Rgb(0x00, 0x72, 0xb2),
        Rgb(0x00, 0x3f, 0x6b),
    ];
    along(&STOPS, (t + 1.0) / 2.0)
}

/// Black for 0, white for 1.
pub(crate) fn grey(t: f64) -> Rgb {
    Rgb(0, 0, 0).mix(Rgb(255, 255, 255), t.clamp(0.0, 1.0))
}

fn along(stops: &[Rgb], t: f64) -> Rgb {
    let place = t.clamp(0.0, 1.0) * (stops.len() - 1) as f64;
    let index = (place.floor() as usize).min(stops.len() - 2);
    stops[index].mix(stops[index + 1], place - index as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_meet_their_ends_and_clamp() {
        assert_eq!(sequential(-3.0), Rgb(0x44, 0x01, 0x54));
        assert_eq!(sequential(1.0), Rgb(0xc8, 0xe0, 0x20));
        assert_eq!(diverging(0.0), Rgb(0xf9, 0xf8, 0xf6));
        assert_eq!(diverging(9.0), Rgb(0x00, 0x3f, 0x6b));
        assert_eq!(grey(0.5), Rgb(128, 128, 128));
    }

    #[test]
    fn lightness_of_the_sequential_scale_rises() {
        let luma =
            |c: Rgb| 0.299 * f64::from(c.0) + 0.587 * f64::from(c.1) + 0.114 * f64::from(c.2);
        for i in 0..100 {
            let t = f64::from(i) / 100.0;
            assert!(luma(sequential(t + 0.01)) >= luma(sequential(t)) - 0.5, "at {t}");
        }
    }
}
