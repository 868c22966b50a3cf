//! Numbers as people read them: three significant digits, thousands apart, the unit that fits.

use crate::document::LatencySummary;

/// What stands for a figure that there is none of.
pub(crate) const NONE: &str = "–";

/// A blank at which no line is broken.
pub const TIE: char = '\u{a0}';

/// A figure, or the sign that there is none.
pub(crate) fn or_none<T>(figure: Option<T>, show: impl FnOnce(T) -> String) -> String {
    figure.map_or_else(|| NONE.into(), show)
}

/// `1216` as `1,216`.
#[must_use]
pub fn count(number: u64) -> String {
    grouped(&number.to_string())
}

/// `18243.2` as `18,200`, `0.01234` as `0.0123`.
#[must_use]
pub fn significant(number: f64) -> String {
    if number == 0.0 {
        return "0".into();
    }
    let magnitude = magnitude(number);
    if magnitude >= 2 {
        let unit = 10_f64.powi(magnitude - 2);
        grouped(&format!("{:.0}", (number / unit).round() * unit))
    } else {
        let decimals = usize::try_from(2 - magnitude).unwrap_or_default().min(9);
        format!("{number:.decimals$}")
    }
}

/// The exponent of the first digit, after rounding to three digits: 2 for 999.4 and 3 for 999.6.
#[expect(clippy::cast_possible_truncation, reason = "an exponent of a finite number is at most 308")]
fn magnitude(number: f64) -> i32 {
    let exponent = number.abs().log10().floor() as i32;
    let digits = (number.abs() / 10_f64.powi(exponent - 2)).round();
    if digits >= 1_000.0 { exponent + 1 } else { exponent }
}

/// Microseconds as `310 µs`, `12.3 ms`, `1.31 s`, `2.50 min` or `3.00 h`.
#[must_use]
pub fn duration(us: f64) -> String {
    let units = [(3.6e9, "h"), (6e7, "min"), (1e6, "s"), (1e3, "ms"), (1.0, "µs")];
    with_unit(us, &units)
}

/// Microseconds as a lower bound, which is never rounded up, or as an upper one, which is never rounded down.
pub(crate) fn bound(us: f64, round: fn(f64) -> f64) -> String {
    let unit = 10_f64.powi(magnitude(us.max(1.0)) - 2);
    duration(round(us / unit) * unit)
}

/// The figure of this name, or its range as `1.31 s to 1.50 s`, or its lower bound as `≥ 1.31 s`, or the sign that there is none.
pub(crate) fn figure_of(figures: &LatencySummary, name: &str) -> String {
    if let Some((low, high)) = figures.range(name) {
        return format!("{} to {}", duration(low), duration(high));
    }
    match (figures.known(name), figures.least(name)) {
        (Some(us), _) => duration(us),
        (None, Some(us)) => format!("≥{TIE}{}", duration(us)),
        (None, None) => NONE.into(),
    }
}

/// Bytes as `512 B` or `12.3 MiB`.
pub(crate) fn bytes(bytes: u64) -> String {
    if bytes < 1_024 {
        return format!("{bytes}{TIE}B");
    }
    let units = [(1_099_511_627_776.0, "TiB"), (1_073_741_824.0, "GiB"), (1_048_576.0, "MiB"), (1_024.0, "KiB")];
    with_unit(bytes as f64, &units)
}

/// A number in the largest unit that it fills; the last unit takes what is smaller.
fn with_unit(number: f64, units: &[(f64, &str)]) -> String {
    let fits = units.iter().find(|(size, _)| number.abs() >= *size).or(units.last());
    fits.map_or_else(|| significant(number), |(size, name)| format!("{}{TIE}{name}", significant(number / size)))
}

fn grouped(digits: &str) -> String {
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits), |rest| ("-", rest));
    let mut text = String::from(sign);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn thousands_are_apart() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn three_digits_count() {
        let numbers = [0.0, 0.012_345, 0.5, 9.996, 99.96, 999.4, 999.6, 18_243.2, 1_234_567.0];
        let shown = ["0", "0.0123", "0.500", "10.0", "100", "999", "1,000", "18,200", "1,230,000"];
        assert_eq!(numbers.map(significant), shown);
    }

    #[test]
    fn the_unit_fits_the_number() {
        let shown = ["0.250 µs", "310 µs", "1.31 ms", "1.31 s", "2.50 min", "3.00 h"];
        let plain = |text: String| text.replace(TIE, " ");
        assert_eq!([0.25, 310.0, 1_310.0, 1.31e6, 1.5e8, 1.08e10].map(|us| plain(duration(us))), shown);
        let shown = ["0 B", "1023 B", "1.50 KiB", "35.0 MiB"];
        assert_eq!([0, 1_023, 1_536, 35 << 20].map(|b| plain(bytes(b))), shown);
    }

    proptest! {
        #[test]
        fn what_is_shown_is_the_number_within_half_a_percent(number in 1e-6_f64..1e12) {
            let shown: f64 = significant(number).replace(',', "").parse().unwrap();
            prop_assert!((shown / number - 1.0).abs() <= 0.005, "{number} became {shown}");
        }
    }
}
