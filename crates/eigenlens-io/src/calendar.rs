//! Dates and times as ISO 8601 text.

use std::fmt::Write;

/// What one count of a stored time means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimeUnit {
    Second,
    Millisecond,
    Microsecond,
    Nanosecond,
}

impl TimeUnit {
    fn per_second(self) -> i64 {
        match self {
            TimeUnit::Second => 1,
            TimeUnit::Millisecond => 1_000,
            TimeUnit::Microsecond => 1_000_000,
            TimeUnit::Nanosecond => 1_000_000_000,
        }
    }

    fn digits(self) -> usize {
        match self {
            TimeUnit::Second => 0,
            TimeUnit::Millisecond => 3,
            TimeUnit::Microsecond => 6,
            TimeUnit::Nanosecond => 9,
        }
    }
}

/// `2024-02-29`, from days since 1970-01-01 (proleptic Gregorian calendar).
pub(crate) fn date(days: i64, out: &mut String) {
    // H. Hinnant, "chrono-compatible low-level date algorithms", civil_from_days: years begin in
    // March, so that the leap day is the last of its year.
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let day_of_era = z.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    // Writing to a string cannot fail.
    let _ = write!(out, "{year:04}-{month:02}-{day:02}");
}

/// `13:05:00.250`, from counts since midnight; the fraction is left out where it is 0.
pub(crate) fn time(count: i64, unit: TimeUnit, out: &mut String) {
    let per_second = unit.per_second();
    let (seconds, fraction) = (count.div_euclid(per_second), count.rem_euclid(per_second));
    let _ = write!(out, "{:02}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60);
    if fraction != 0 {
        let _ = write!(out, ".{fraction:0width$}", width = unit.digits());
    }
}

/// `2024-02-29T13:05:00Z`, from counts since 1970-01-01T00:00; `Z` only where the file says that
/// the time is in UTC.
pub(crate) fn timestamp(count: i64, unit: TimeUnit, utc: bool, out: &mut String) {
    let per_day = 86_400 * unit.per_second();
    date(count.div_euclid(per_day), out);
    out.push('T');
    time(count.rem_euclid(per_day), unit, out);
    if utc {
        out.push('Z');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_days_have_their_dates() {
        let known = [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (19_782, "2024-02-29"),
            (19_783, "2024-03-01"),
            (-719_528, "0000-01-01"),
            (11_016, "2000-02-29"),
            (-25_508, "1900-03-01"),
        ];
        for (days, expected) in known {
            let mut out = String::new();
            date(days, &mut out);
            assert_eq!(out, expected);
        }
    }

    #[test]
    fn times_before_the_epoch_count_backwards() {
        let mut out = String::new();
        timestamp(-1, TimeUnit::Millisecond, true, &mut out);
        assert_eq!(out, "1969-12-31T23:59:59.999Z");
        out.clear();
        timestamp(i64::MIN, TimeUnit::Nanosecond, false, &mut out);
        assert_eq!(out, "1677-09-21T00:12:43.145224192");
    }
}
