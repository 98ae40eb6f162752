//! From a request to a number: the one place where the number of components is found.
//!
//! A solver is asked for more and more leading pairs until they decide, and never for more than the
//! budget has room for: where it takes more, the caller changes the route or refuses.

use super::{NComponents, Outcome, Reason, Rule, Sample, Spectrum, apply};
use crate::error::{Error, Result, Warning};
use ndarray::Array2;

/// A solver that can be asked for any number of leading pairs.
pub(crate) trait LeadingPairs {
    type Pairs;

    /// The `k` leading pairs.
    fn leading(&mut self, k: usize) -> Result<Self::Pairs>;

    /// What is known of the spectrum once `k` pairs have been found.
    fn head(&self, pairs: &Self::Pairs, k: usize) -> Result<Head>;

    /// All components that there are.
    fn limit(&self) -> usize;

    /// The most components that the budget has room for.
    fn room(&self) -> usize {
        self.limit()
    }

    /// The first number that is tried where the data decide.
    fn first(&self) -> usize {
        16
    }

    /// The first value, roughly, where it costs little: it says how many components it takes at least.
    fn first_value(&mut self) -> Result<Option<Head>> {
        Ok(None)
    }

    /// Whether all pairs are computed to find `k` of them.
    fn finds_all(&self, _k: usize) -> bool {
        false
    }

    /// Whether another route would be done sooner than this one with `k` pairs.
    fn too_slow(&self, _k: usize) -> bool {
        false
    }

    /// Whether fewer pairs are the first of more; if not, they are found once more on their own.
    fn nested(&self) -> bool {
        true
    }

    /// Refuses a rule that does not go with these values, before any is computed.
    fn check_rule(&self, rule: Rule) -> Result<()>;

    /// The values as rules see them.
    fn spectrum<'h>(&'h self, head: &'h Head) -> Spectrum<'h>;

    /// Rows of the data and their number, for rules that look at them.
    fn sample(&self) -> Result<Option<(Array2<f64>, usize)>> {
        Ok(None)
    }

    /// The seed of rules that draw random numbers.
    fn seed(&self) -> u64 {
        0
    }
}

/// The leading values, and what is known of the others.
pub(crate) struct Head {
    /// Descending.
    pub values: Vec<f64>,
    /// The sum of all of them.
    pub total: f64,
    /// Values at or below this are rounding.
    pub rounding_floor: f64,
    /// The most components that can carry anything.
    pub max_rank: usize,
}

impl Head {
    /// Of values among which none that is rounding carries anything, nor any after it.
    pub fn above_rounding(
        mut values: Vec<f64>,
        total: f64,
        rounding_floor: f64,
        max_rank: usize,
    ) -> Head {
        values.truncate(max_rank);
        let carry = values.iter().position(|v| *v <= rounding_floor);
        let max_rank = carry.unwrap_or(max_rank);
        values.truncate(max_rank);
        Head { values, total, rounding_floor, max_rank }
    }

    /// Whether there is no value to be known beside these.
    fn is_complete(&self) -> bool {
        self.values.len() >= self.max_rank
    }
}

/// What came of looking for the number of components.
pub(crate) enum Resolved<P> {
    /// `k` components, and the pairs of which they are the first; room was needed for `asked`.
    Found { k: usize, asked: usize, pairs: P },
    /// More are needed than the budget has room for.
    TooMany { at_least: usize },
    /// Another route would be done sooner.
    TooSlow,
}

impl<P> Resolved<P> {
    /// The number and the pairs of a method with one route; the error where there is no room for them.
    pub fn or_refuse(self, too_many: impl FnOnce(usize) -> Error) -> Result<(usize, P)> {
        match self {
            Resolved::Found { k, pairs, .. } => Ok((k, pairs)),
            Resolved::TooMany { at_least } => Err(too_many(at_least)),
            Resolved::TooSlow => Err(Error::Internal("an iteration that was not begun".into())),
        }
    }
}

/// How many components, and the pairs.
pub(crate) fn resolve<L: LeadingPairs>(
    request: &NComponents,
    solver: &mut L,
    notes: &mut Vec<Warning>,
) -> Result<Resolved<L::Pairs>> {
    if let Some(k) = request.number(solver.limit()) {
        return Ok(Resolved::Found { k, asked: k, pairs: solver.leading(k)? });
    }
    if let NComponents::Rule(rule) = request {
        solver.check_rule(*rule)?;
    }
    let resolved = if request.grows() { grow(request, solver)? } else { of_all(request, solver)? };
    let Resolved::Found { k, asked, pairs } = resolved else { return Ok(resolved) };
    if k == 0
        && let NComponents::Rule(rule) = request
    {
        notes.push(Warning::RuleFindsNone { rule: rule.name() });
    }
    // One is kept where a rule finds none.
    Ok(Resolved::Found { k: k.max(1), asked: asked.max(1), pairs })
}

/// Asks for more and more pairs: at least for as many as it is known to take, for all where these cost no
/// more, and for no more than there is room for.
fn grow<L: LeadingPairs>(request: &NComponents, solver: &mut L) -> Result<Resolved<L::Pairs>> {
    let limit = solver.limit();
    let room = solver.room().min(limit).max(1);
    let mut k = solver.first().min(room);
    if let Some(head) = solver.first_value()?
        && let Growth::AtLeast(n) = decide(request, solver, &head, None)?
    {
        k = n.clamp(k, room);
    }
    loop {
        if solver.too_slow(k) {
            return Ok(Resolved::TooSlow);
        }
        if solver.finds_all(k) {
            k = room;
        }
        let pairs = solver.leading(k)?;
        let head = solver.head(&pairs, k)?;
        // What is needed for sure, and what is asked for next, so that not every step is a small one.
        let (needed, next) = match decide(request, solver, &head, None)? {
            Growth::Enough(n) => (n.min(limit), n.min(limit)),
            Growth::AtLeast(_) if head.is_complete() => {
                let all = head.max_rank.clamp(1, limit);
                (all, all)
            }
            Growth::AtLeast(n) => (n.min(limit), n.max(2 * k).min(limit)),
        };
        if next <= k {
            return settle(solver, next, k, pairs);
        }
        if k == room {
            return Ok(Resolved::TooMany { at_least: needed.max(k + 1) });
        }
        k = next.min(room);
    }
}

/// `k` of the pairs that were asked for. Where all were found anyway, room was needed for `k` only.
fn settle<L: LeadingPairs>(
    solver: &mut L,
    k: usize,
    asked: usize,
    pairs: L::Pairs,
) -> Result<Resolved<L::Pairs>> {
    if k < asked && !solver.nested() {
        return Ok(Resolved::Found { k, asked, pairs: solver.leading(k.max(1))? });
    }
    let asked = if solver.finds_all(k) { k } else { asked };
    Ok(Resolved::Found { k, asked, pairs })
}

/// The choice of a rule that looks at all values.
fn of_all<L: LeadingPairs>(request: &NComponents, solver: &mut L) -> Result<Resolved<L::Pairs>> {
    let limit = solver.limit();
    let pairs = solver.leading(limit)?;
    let head = solver.head(&pairs, limit)?;
    let looks = matches!(request, NComponents::Rule(rule) if rule.need() == super::Need::Data);
    let rows = if looks { solver.sample()? } else { None };
    let sample = rows.as_ref().map(|(rows, of)| Sample { rows: rows.view(), of: *of });
    match decide(request, solver, &head, sample.as_ref())? {
        Growth::Enough(k) => Ok(Resolved::Found { k: k.min(limit), asked: limit, pairs }),
        Growth::AtLeast(at_least) => Ok(Resolved::TooMany { at_least }),
    }
}

/// What is known of the number of components so far.
enum Growth {
    Enough(usize),
    AtLeast(usize),
}

fn decide<L: LeadingPairs>(
    request: &NComponents,
    solver: &L,
    head: &Head,
    sample: Option<&Sample>,
) -> Result<Growth> {
    match request {
        NComponents::VarianceShare(share) => Ok(reach(head, share * head.total)),
        NComponents::Rule(rule) => {
            // Variances that are rounding are none.
            let of = |v: &f64| if *v > head.rounding_floor { *v } else { 0.0 };
            let values: Vec<f64> = head.values.iter().take(head.max_rank).map(of).collect();
            let spectrum = Spectrum { values: &values, ..solver.spectrum(head) };
            match apply(*rule, &spectrum, sample, solver.seed()) {
                Outcome::Chosen(choice) => Ok(Growth::Enough(choice.n_components)),
                Outcome::NotComputed { reason: Reason::HeadTooShort { known, .. }, .. } => {
                    Ok(Growth::AtLeast(known + 1))
                }
                Outcome::NotComputed { reason, .. } => Err(Error::NotDefined {
                    what: "the number of components",
                    why: reason.to_string(),
                }),
            }
        }
        NComponents::Fixed(_) | NComponents::All => {
            Ok(Growth::Enough(request.number(solver.limit()).unwrap_or(solver.limit())))
        }
    }
}

/// The fewest values that reach a sum.
fn reach(head: &Head, sum_wanted: f64) -> Growth {
    // The last bits of a sum must not cost a component.
    let target = sum_wanted * (1.0 - 1e-12);
    let mut sum = 0.0;
    let last = head.values.iter().position(|v| {
        sum += v;
        sum >= target
    });
    match last {
        Some(last) => Growth::Enough(last + 1),
        None => {
            // The next ones are no larger than the last.
            let more = (target - sum) / head.values.last().copied().unwrap_or(0.0);
            Growth::AtLeast(head.values.len().saturating_add(more.ceil() as usize))
        }
    }
}

/// Every value there is, computed already: only the number is to be found.
pub(crate) struct AllValues<'a> {
    pub spectrum: Spectrum<'a>,
    pub rounding_floor: f64,
    /// All components that there are.
    pub limit: usize,
    /// Why rules do not go with these values, where they do not.
    pub no_rules: Option<&'static str>,
}

impl<'a> AllValues<'a> {
    /// Values that carry something, to which no rule applies.
    pub fn without_rules(
        values: &'a [f64],
        total: f64,
        rounding_floor: f64,
        limit: usize,
        why: &'static str,
    ) -> AllValues<'a> {
        let spectrum = Spectrum {
            values,
            total_variance: total,
            n_samples: 0.0,
            n_features: 0,
            n_varying: 0,
            max_rank: values.len(),
            centered: false,
            standardized: false,
        };
        AllValues { spectrum, rounding_floor, limit, no_rules: Some(why) }
    }

    /// How many components of these.
    pub fn resolve(mut self, request: &NComponents, notes: &mut Vec<Warning>) -> Result<usize> {
        let none_left = |_| Error::Internal("more components than there are".into());
        Ok(resolve(request, &mut self, notes)?.or_refuse(none_left)?.0)
    }
}

impl LeadingPairs for AllValues<'_> {
    type Pairs = ();

    fn leading(&mut self, _: usize) -> Result<()> {
        Ok(())
    }

    fn head(&self, (): &(), _: usize) -> Result<Head> {
        Ok(Head {
            values: self.spectrum.values.to_vec(),
            total: self.spectrum.total_variance,
            rounding_floor: self.rounding_floor,
            max_rank: self.spectrum.max_rank,
        })
    }

    fn limit(&self) -> usize {
        self.limit
    }

    fn finds_all(&self, _: usize) -> bool {
        true
    }

    fn check_rule(&self, rule: Rule) -> Result<()> {
        match self.no_rules {
            None => Ok(()),
            Some(why) => Err(Error::Unsupported {
                what: format!("the rule `{}`", rule.name()),
                why,
                instead: None,
            }),
        }
    }

    fn spectrum<'h>(&'h self, head: &'h Head) -> Spectrum<'h> {
        Spectrum { values: &head.values, ..self.spectrum }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A solver that knows its values, and remembers how many were asked for.
    struct Known {
        values: Vec<f64>,
        room: usize,
        nested: bool,
        asked: Vec<usize>,
    }

    impl Known {
        fn new(values: impl IntoIterator<Item = f64>) -> Known {
            let values: Vec<f64> = values.into_iter().collect();
            Known { room: values.len(), values, nested: true, asked: Vec::new() }
        }

        fn resolve(&mut self, request: NComponents) -> (Resolved<usize>, Vec<Warning>) {
            let mut notes = Vec::new();
            (resolve(&request, self, &mut notes).unwrap(), notes)
        }
    }

    impl LeadingPairs for Known {
        type Pairs = usize;

        fn leading(&mut self, k: usize) -> Result<usize> {
            self.asked.push(k);
            Ok(k)
        }

        fn head(&self, pairs: &usize, _: usize) -> Result<Head> {
            let known = self.values[..*pairs].to_vec();
            Ok(Head::above_rounding(known, self.values.iter().sum(), 1e-9, self.values.len()))
        }

        fn limit(&self) -> usize {
            self.values.len()
        }

        fn room(&self) -> usize {
            self.room
        }

        fn nested(&self) -> bool {
            self.nested
        }

        fn check_rule(&self, _: Rule) -> Result<()> {
            Ok(())
        }

        fn spectrum<'h>(&'h self, head: &'h Head) -> Spectrum<'h> {
            Spectrum {
                values: &head.values,
                total_variance: head.total,
                n_samples: 1000.0,
                n_features: self.values.len(),
                n_varying: self.values.len(),
                max_rank: head.max_rank,
                centered: true,
                standardized: false,
            }
        }
    }

    fn number(resolved: &Resolved<usize>) -> Option<usize> {
        match resolved {
            Resolved::Found { k, .. } => Some(*k),
            _ => None,
        }
    }

    #[test]
    fn no_more_are_asked_for_than_there_is_room_for() {
        // A hundred equal values: half of their sum takes fifty.
        for room in [10, 49, 50, 100] {
            let mut solver = Known { room, ..Known::new([1.0; 100]) };
            let (found, _) = solver.resolve(NComponents::VarianceShare(0.5));
            assert!(solver.asked.iter().all(|k| *k <= room), "{:?}", solver.asked);
            match found {
                Resolved::Found { k, .. } => assert!(k == 50 && room >= 50, "{room}"),
                Resolved::TooMany { at_least } => {
                    assert!(at_least > room && at_least <= 50 && room < 50, "{at_least}");
                }
                Resolved::TooSlow => panic!("it takes no time"),
            }
        }
    }

    #[test]
    fn the_values_say_how_many_it_takes_at_least() {
        let mut solver = Known::new([1.0; 1000]);
        assert_eq!(number(&solver.resolve(NComponents::VarianceShare(0.9)).0), Some(900));
        assert_eq!(solver.asked, [16, 900]);
    }

    #[test]
    fn what_is_rounding_carries_nothing() {
        let values = || (0..60).map(|j| if j < 3 { 1.0 } else { 1e-12 });
        // All of the sum is never reached by three values: there are no others.
        let (found, _) = Known::new(values()).resolve(NComponents::VarianceShare(1.0));
        assert_eq!(number(&found), Some(3));
        let (found, _) = Known::new(values()).resolve(NComponents::Rule(Rule::Threshold(0.5)));
        assert_eq!(number(&found), Some(3));
    }

    #[test]
    fn one_is_kept_where_a_rule_finds_none() {
        let rule = NComponents::Rule(Rule::Threshold(5.0));
        let (found, notes) = Known::new([1.0; 40]).resolve(rule);
        assert_eq!(number(&found), Some(1));
        assert_eq!(notes, [Warning::RuleFindsNone { rule: "threshold" }]);
    }

    #[test]
    fn a_fit_of_its_own_where_fewer_are_not_the_first_of_more() {
        let mut solver = Known { nested: false, ..Known::new((0..40).map(|j| 0.5f64.powi(j))) };
        let (found, _) = solver.resolve(NComponents::VarianceShare(0.9));
        assert!(matches!(found, Resolved::Found { k: 4, pairs: 4, .. }));
        assert_eq!(solver.asked, [16, 4]);
    }
}
