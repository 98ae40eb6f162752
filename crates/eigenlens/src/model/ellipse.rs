//! The ellipse that holds a share of a normal distribution in the plane.

use crate::error::{Error, Result};

/// The points `center + cos(t) axes[0] + sin(t) axes[1]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ellipse {
    /// The mean of the points.
    pub center: [f64; 2],
    /// The half axes as vectors, the longer one first.
    pub axes: [[f64; 2]; 2],
}

/// The ellipse that holds a share `confidence` of the normal distribution with the points' mean and
/// covariance: `(x − m)ᵀ C⁻¹ (x − m) = χ²`, with the quantile `−2 ln(1 − confidence)` for two
/// dimensions. `None` for fewer than three points.
pub fn normal_ellipse(points: &[[f64; 2]], confidence: f64) -> Result<Option<Ellipse>> {
    check(confidence)?;
    let n = points.len() as f64;
    if points.len() < 3 {
        return Ok(None);
    }
    // Squares of points beyond 1e154 overflow: those are taken in a unit of their own.
    let largest = points.iter().flatten().fold(0.0, |most: f64, x| most.max(x.abs()));
    if largest > LARGE && largest.is_finite() {
        let points: Vec<[f64; 2]> = points.iter().map(|p| p.map(|x| x / LARGE)).collect();
        let found = normal_ellipse(&points, confidence)?;
        return Ok(found.map(|Ellipse { center, axes }| Ellipse {
            center: center.map(|x| x * LARGE),
            axes: axes.map(|axis| axis.map(|x| x * LARGE)),
        }));
    }
    let mean = |axis: usize| points.iter().map(|p| p[axis]).sum::<f64>() / n;
    let center = [mean(0), mean(1)];
    let moment = |a: usize, b: usize| {
        points.iter().map(|p| (p[a] - center[a]) * (p[b] - center[b])).sum::<f64>() / (n - 1.0)
    };
    let (xx, xy, yy) = (moment(0, 0), moment(0, 1), moment(1, 1));
    covariance_ellipse(center, [[xx, xy], [xy, yy]], confidence).map(Some)
}

/// 2^500, about 3e150.
const LARGE: f64 = f64::from_bits((1023 + 500) << 52);

/// The ellipse that holds a share `confidence` of the normal distribution with this mean and
/// covariance.
pub fn covariance_ellipse(
    center: [f64; 2],
    covariance: [[f64; 2]; 2],
    confidence: f64,
) -> Result<Ellipse> {
    check(confidence)?;
    let (xx, xy, yy) = (covariance[0][0], covariance[0][1], covariance[1][1]);
    // The angle of the first eigenvector of a 2 × 2 matrix.
    let angle = 0.5 * (2.0 * xy).atan2(xx - yy);
    let (sin, cos) = angle.sin_cos();
    let spread = 0.5 * (xx - yy).hypot(2.0 * xy);
    let middle = 0.5 * (xx + yy);
    let quantile = (-2.0 * (1.0 - confidence).ln()).sqrt();
    let long = (middle + spread).max(0.0).sqrt() * quantile;
    let short = (middle - spread).max(0.0).sqrt() * quantile;
    Ok(Ellipse { center, axes: [[long * cos, long * sin], [-short * sin, short * cos]] })
}

fn check(confidence: f64) -> Result<()> {
    if confidence > 0.0 && confidence < 1.0 {
        return Ok(());
    }
    Err(Error::Parameter {
        name: "confidence",
        value: confidence.to_string(),
        expected: "between 0 and 1, both excluded",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ellipses_scale_with_their_points() {
        let points = [[1.0, 2.0], [3.0, 5.0], [4.0, 4.0], [7.0, 9.0], [2.0, 1.0]];
        let unit = 2f64.powi(1000);
        let large = points.map(|p| p.map(|x| x * unit));
        let small = normal_ellipse(&points, 0.95).unwrap().unwrap();
        let large = normal_ellipse(&large, 0.95).unwrap().unwrap();
        assert_eq!(large.center, small.center.map(|x| x * unit));
        assert_eq!(large.axes, small.axes.map(|axis| axis.map(|x| x * unit)));
    }

    #[test]
    fn the_boundary_has_the_right_mahalanobis_distance() {
        let points = [[1.0, 2.0], [3.0, 5.0], [4.0, 4.0], [7.0, 9.0], [2.0, 1.0]];
        let e = normal_ellipse(&points, 0.95).unwrap().unwrap();
        let n = points.len() as f64;
        let m = [3.4, 4.2];
        let c = |a: usize, b: usize| {
            points.iter().map(|p| (p[a] - m[a]) * (p[b] - m[b])).sum::<f64>() / (n - 1.0)
        };
        let determinant = c(0, 0) * c(1, 1) - c(0, 1) * c(0, 1);
        for step in 0..12 {
            let (sin, cos) = (0.5 * f64::from(step)).sin_cos();
            let d = [0, 1].map(|a| e.center[a] + cos * e.axes[0][a] + sin * e.axes[1][a] - m[a]);
            let distance = (c(1, 1) * d[0] * d[0] - 2.0 * c(0, 1) * d[0] * d[1]
                + c(0, 0) * d[1] * d[1])
                / determinant;
            // The 95th percentile of χ² with two degrees of freedom.
            assert!((distance - 5.991464547107979).abs() < 1e-9, "{distance}");
        }
    }

    #[test]
    fn few_points_and_odd_shares_have_no_ellipse() {
        assert_eq!(normal_ellipse(&[[0.0, 0.0], [1.0, 1.0]], 0.95).unwrap(), None);
        assert!(normal_ellipse(&[[0.0, 0.0]; 3], 1.0).is_err());
        let line = normal_ellipse(&[[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]], 0.5).unwrap().unwrap();
        assert!(line.axes[1][0].abs() < 1e-7 && line.axes[0][0] > 0.0);
    }
}
