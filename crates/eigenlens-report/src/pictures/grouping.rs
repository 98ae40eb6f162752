//! Which colour and shape each point has, and the legend that says so.

use crate::draw::canvas::Canvas;
use crate::draw::color::sequential;
use crate::draw::legend::{self, Entry, Symbol};
use crate::draw::marker::{Marker, Shape};
use crate::draw::number::count;
use crate::draw::scale::Scale;
use crate::draw::{cloud, theme};
use crate::error::{Error, below, length};
use crate::pictures::scores::Coloring;

/// The markers of all points of a picture.
pub(crate) enum Grouping<'a> {
    One,
    Groups {
        names: &'a [String],
        of: &'a [usize],
        counts: Vec<usize>,
        /// Place in the legend of each group; none for the groups that became "other".
        places: Vec<Option<usize>>,
    },
    Values {
        name: &'a str,
        values: &'a [f64],
        scale: Scale,
    },
}

impl<'a> Grouping<'a> {
    /// Checks the colouring of `n` points.
    pub fn new(coloring: &'a Coloring, n: usize) -> Result<Grouping<'a>, Error> {
        match coloring {
            Coloring::None => Ok(Grouping::One),
            Coloring::Groups { names, of } => {
                length("coloring", of.len(), n)?;
                below("coloring", names.len(), of.iter().copied())?;
                let mut counts = vec![0; names.len()];
                for group in of {
                    counts[*group] += 1;
                }
                let places = places(&counts);
                Ok(Grouping::Groups { names, of, counts, places })
            }
            Coloring::Values { name, values } => {
                length("coloring", values.len(), n)?;
                let known = values.iter().copied().filter(|value| value.is_finite());
                Ok(Grouping::Values { name, values, scale: Scale::around(known, 0.0) })
            }
        }
    }

    pub fn marker(&self, point: usize) -> Marker {
        match self {
            Grouping::One => Marker::of(0),
            Grouping::Groups { of, .. } => self.group_marker(of[point]),
            Grouping::Values { values, scale, .. } if values[point].is_finite() => {
                let color = sequential(scale.place(values[point]));
                Marker { color, shape: Shape::Circle }
            }
            Grouping::Values { .. } => Marker { shape: Shape::Cross, ..Marker::other() },
        }
    }

    pub fn group_marker(&self, group: usize) -> Marker {
        match self {
            Grouping::Groups { places, .. } => {
                places.get(group).copied().flatten().map_or(Marker::other(), Marker::of)
            }
            _ => Marker::of(0),
        }
    }

    /// The dash pattern of a group's outline.
    pub fn dash(&self, group: usize) -> &'static str {
        match self {
            Grouping::Groups { places, .. } => {
                let place = places.get(group).copied().flatten().unwrap_or(0);
                theme::DASHES[place % theme::DASHES.len()]
            }
            _ => "",
        }
    }

    pub fn group_name(&self, group: usize) -> Option<&str> {
        match self {
            Grouping::Groups { names, .. } => names.get(group).map(String::as_str),
            _ => None,
        }
    }

    /// The group a point belongs to, as a tooltip names it.
    pub fn name_of(&self, point: usize) -> Option<&str> {
        match self {
            Grouping::Groups { of, .. } => self.group_name(of[point]),
            _ => None,
        }
    }

    /// Draws the legend; gives the y below it.
    pub fn legend(&self, canvas: &mut Canvas, y: f64) -> f64 {
        let width = canvas.width - 2.0 * theme::MARGIN;
        match self {
            Grouping::One => y,
            Grouping::Groups { .. } => {
                legend::rows(canvas, theme::MARGIN, y - 6.0, width, &self.entries()) + 6.0
            }
            Grouping::Values { name, values, scale } => {
                let missing = values.iter().filter(|value| !value.is_finite()).count();
                let bar = legend::color_bar(canvas, theme::MARGIN, y, name, scale, sequential);
                if missing > 0 {
                    let marker = Marker { shape: Shape::Cross, ..Marker::other() };
                    let text = format!("no value ({})", count(missing));
                    let entry = Entry { symbol: Symbol::Marker(marker), text };
                    legend::beside(canvas, &bar, entry);
                }
                bar.bottom
            }
        }
    }

    fn entries(&self) -> Vec<Entry> {
        let Grouping::Groups { names, of, counts, places } = self else { return Vec::new() };
        let painted = cloud::is_painted(of.len());
        let mut groups: Vec<(usize, usize)> = places
            .iter()
            .enumerate()
            .filter_map(|(group, place)| place.map(|place| (place, group)))
            .collect();
        groups.sort_unstable();
        let mut entries: Vec<Entry> = groups
            .into_iter()
            .map(|(place, group)| Entry {
                symbol: Symbol::Marker(legend_marker(place, painted)),
                text: with_count(&names[group], counts[group]),
            })
            .collect();
        let others = places.iter().zip(counts).filter(|(place, n)| place.is_none() && **n > 0);
        let (groups, points) = others.fold((0, 0), |(g, p), (_, n)| (g + 1, p + n));
        if groups > 0 {
            let text = with_count(&format!("{} other groups", count(groups)), points);
            entries.push(Entry { symbol: Symbol::Marker(Marker::other()), text });
        }
        entries
    }
}

/// Points painted as dots have no shape, so the legend shows none.
fn legend_marker(place: usize, painted: bool) -> Marker {
    let marker = Marker::of(place);
    if painted { Marker { shape: Shape::Circle, ..marker } } else { marker }
}

/// The count stays in sight when the name is long.
fn with_count(name: &str, points: usize) -> String {
    let name = crate::names::shorten(name, 28.0, |text| text.chars().count() as f64);
    format!("{name} ({})", count(points))
}

/// Gives a place in the legend to each group that has points, in the order of the groups; if there
/// are too many, to the largest.
fn places(counts: &[usize]) -> Vec<Option<usize>> {
    let mut groups: Vec<usize> = (0..counts.len()).filter(|group| counts[*group] > 0).collect();
    if groups.len() > theme::LEGEND_GROUPS {
        groups.sort_by_key(|group| (std::cmp::Reverse(counts[*group]), *group));
        groups.truncate(theme::LEGEND_GROUPS);
        groups.sort_unstable();
    }
    let mut places = vec![None; counts.len()];
    for (place, group) in groups.into_iter().enumerate() {
        places[group] = Some(place);
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_groups_get_a_place() {
        assert_eq!(places(&[5, 0, 2]), [Some(0), None, Some(1)]);
        let mut counts = vec![3; 20];
        counts[19] = 9;
        let places = places(&counts);
        assert_eq!(places[19], Some(13));
        assert_eq!(places[12], Some(12));
        assert_eq!(places[13], None);
    }
}
