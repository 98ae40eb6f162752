//! What came of a campaign, by family.

use crate::Outcome;
use crate::compare::{Check, Claim};
use std::fmt;

/// Failures that are told of in full, for each family.
const SHOWN: usize = 4;

/// Medians of bound over error, of values and of angles, that should not be exceeded.
const WIDE: [f64; 2] = [50.0, 200.0];

/// The families that were run.
pub struct Report {
    /// One after the other.
    pub families: Vec<FamilyReport>,
}

/// What came of one family.
pub struct FamilyReport {
    /// Its name.
    pub name: &'static str,
    /// Fits that were asked for.
    pub fits: usize,
    /// Fits with at least one false claim, or none at all.
    pub failed: usize,
    /// Claims compared, in the order of [`Claim::ALL`].
    pub compared: [usize; Claim::ALL.len()],
    /// Those that are false.
    pub false_claims: [usize; Claim::ALL.len()],
    /// The largest ratio of truth to bound among them.
    pub worst: f64,
    /// The median of bound over error, of values and of angles.
    pub looseness: [Option<f64>; 2],
    /// The first false claims, in words.
    pub failures: Vec<String>,
}

impl Report {
    /// From all outcomes, those of a family together.
    pub(crate) fn new(outcomes: &[Outcome]) -> Report {
        let by_family = outcomes.chunk_by(|a, b| a.family.name == b.family.name);
        Report { families: by_family.map(FamilyReport::new).collect() }
    }

    /// Whether every fit was made and every claim is true.
    pub fn passed(&self) -> bool {
        self.families.iter().all(|family| family.failed == 0)
    }

    /// Fits over all families.
    pub fn fits(&self) -> usize {
        self.families.iter().map(|family| family.fits).sum()
    }

    /// As one JSON object.
    pub fn json(&self) -> String {
        let families: Vec<String> = self.families.iter().map(FamilyReport::json).collect();
        format!("{{\"fits\": {}, \"families\": [\n{}\n]}}\n", self.fits(), families.join(",\n"))
    }
}

impl FamilyReport {
    fn new(outcomes: &[Outcome]) -> FamilyReport {
        let mut report = FamilyReport {
            name: outcomes.first().map_or("", |outcome| outcome.family.name),
            fits: outcomes.len(),
            failed: 0,
            compared: [0; Claim::ALL.len()],
            false_claims: [0; Claim::ALL.len()],
            worst: 0.0,
            looseness: [None; 2],
            failures: Vec::new(),
        };
        let mut loose = [Vec::new(), Vec::new()];
        for outcome in outcomes {
            report.add(outcome, &mut loose);
        }
        report.looseness = loose.map(median);
        report
    }

    fn add(&mut self, outcome: &Outcome, loose: &mut [Vec<f64>; 2]) {
        let judged = match &outcome.judged {
            Ok(judged) => judged,
            Err(why) => {
                self.failed += 1;
                self.show(outcome, why.clone());
                return;
            }
        };
        for check in &judged.checks {
            let kind = check.claim as usize;
            self.compared[kind] += 1;
            if let Some(loose) = loose.get_mut(kind) {
                loose.push(check.looseness());
            }
        }
        let mut wrong: Vec<&Check> =
            judged.checks.iter().filter(|check| check.is_false()).collect();
        wrong.iter().for_each(|check| self.false_claims[check.claim as usize] += 1);
        // Failures first, the worst of them before the others.
        wrong.sort_by_key(|check| !check.is_failure());
        let failures = wrong.partition_point(|check| check.is_failure());
        wrong[..failures].sort_by(|a, b| b.factor().total_cmp(&a.factor()));
        if let Some(worst) = wrong.first() {
            if worst.is_failure() {
                self.failed += 1;
                self.worst = self.worst.max(worst.factor());
            }
            let (claim, at) = (worst.claim.name(), worst.component);
            let numbers =
                format!("{:.3e} where at most {:.3e} is claimed", worst.found, worst.bound);
            let all = format!("({} false)", wrong.len());
            self.show(outcome, format!("{claim} {at}: {numbers} {all}; {}", judged.what));
        }
    }

    fn show(&mut self, outcome: &Outcome, what: String) {
        if self.failures.len() < SHOWN {
            self.failures.push(format!("{} --case {}: {what}", self.name, outcome.index));
        }
    }

    fn json(&self) -> String {
        let number = |v: f64| if v.is_finite() { format!("{v:e}") } else { "null".into() };
        let claims = |counts: &[usize; Claim::ALL.len()]| {
            let each = Claim::ALL.iter().zip(counts);
            each.map(|(claim, n)| format!("\"{}\": {n}", claim.name()))
                .collect::<Vec<_>>()
                .join(", ")
        };
        let failures: Vec<String> = self.failures.iter().map(|f| format!("{f:?}")).collect();
        format!(
            "{{\"family\": \"{}\", \"fits\": {}, \"failed\": {}, \"compared\": {{{}}}, \"false\": {{{}}}, \
             \"worst\": {}, \"looseness_values\": {}, \"looseness_angles\": {}, \"failures\": [{}]}}",
            self.name,
            self.fits,
            self.failed,
            claims(&self.compared),
            claims(&self.false_claims),
            number(self.worst),
            number(self.looseness[0].unwrap_or(f64::NAN)),
            number(self.looseness[1].unwrap_or(f64::NAN)),
            failures.join(", "),
        )
    }
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// Above the counts of false claims, their worst ratio, and the medians for values and angles.
const HEADINGS: &str = "  value  angle  group residu orthog missed  cond.    worst   values angles";

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<17}{:>5}{:>7}  false {HEADINGS}  bound / error",
            "family", "fits", "failed"
        )?;
        for family in &self.families {
            let counts: Vec<String> =
                family.false_claims.iter().map(|n| format!("{n:>7}")).collect();
            let worst =
                if family.worst > 0.0 { format!("{:.1e}", family.worst) } else { "".into() };
            let [values, angles] =
                family.looseness.map(|l| l.map_or("".into(), |l| format!("{l:.1}")));
            writeln!(
                f,
                "{:<17}{:>5}{:>7}       {}{worst:>9}{values:>9}{angles:>7}",
                family.name,
                family.fits,
                family.failed,
                counts.concat(),
            )?;
        }
        for family in &self.families {
            let [values, angles] = family.looseness.map(|l| l.unwrap_or(0.0));
            if values > WIDE[0] || angles > WIDE[1] {
                writeln!(
                    f,
                    "{} is wider than wanted: values {values:.0}, angles {angles:.0}",
                    family.name
                )?;
            }
        }
        let failures: Vec<&String> = self.families.iter().flat_map(|f| &f.failures).collect();
        for failure in &failures {
            write!(f, "\n--family {failure}")?;
        }
        if failures.is_empty() { Ok(()) } else { writeln!(f) }
    }
}
