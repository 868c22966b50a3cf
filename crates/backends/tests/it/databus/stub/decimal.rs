//! A decimal number as Java's `BigDecimal` reads, compares and writes it: any number of digits, no negative zero.

use std::{cmp::Ordering, fmt, str::FromStr};

/// `± digits × 10^-scale`.
#[derive(Clone, Debug)]
pub struct Decimal {
    is_negative: bool,
    /// Without leading zeros; `0` for zero.
    digits: String,
    scale: i64,
}

impl FromStr for Decimal {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("java.lang.NumberFormatException: {text}");
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let exponent: i64 = exponent.parse().map_err(|_| wrong())?;
        let unsigned = mantissa.strip_prefix(['-', '+']).unwrap_or(mantissa);
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
        let digits = format!("{whole}{fraction}");
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Err(wrong());
        }
        let digits = match digits.trim_start_matches('0') {
            "" => "0",
            digits => digits,
        };
        let is_negative = mantissa.starts_with('-') && digits != "0";
        Ok(Self { is_negative, digits: digits.to_owned(), scale: fraction.len() as i64 - exponent })
    }
}

impl Decimal {
    /// Equal to these digits with no place after the point: Java's `equals`.
    pub fn is_whole(&self, digits: &str) -> bool {
        !self.is_negative && self.scale == 0 && self.digits == digits
    }

    /// The exponent of the first digit.
    fn adjusted(&self) -> i64 {
        self.digits.len() as i64 - 1 - self.scale
    }

    fn magnitude_cmp(&self, other: &Self) -> Ordering {
        let zeros = |of: &Self| of.digits == "0";
        match (zeros(self), zeros(other)) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (false, false) => self.adjusted().cmp(&other.adjusted()).then_with(|| {
                let significant = |of: &Self| of.digits.trim_end_matches('0').to_owned();
                significant(self).cmp(&significant(other))
            }),
        }
    }

    /// Java's `compareTo`.
    pub fn compare(&self, other: &Self) -> Ordering {
        match (self.is_negative, other.is_negative) {
            (false, false) => self.magnitude_cmp(other),
            (true, true) => other.magnitude_cmp(self),
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
        }
    }
}

/// Java's `toString`: with an exponent where the scale is negative, or the number less than 10^-6.
impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.is_negative { "-" } else { "" };
        if self.scale >= 0 && self.adjusted() >= -6 {
            let places = usize::try_from(self.scale).map_err(|_| fmt::Error)?;
            let padded = format!("{:0>width$}", self.digits, width = places + 1);
            let (whole, fraction) = padded.split_at(padded.len() - places);
            let point = if fraction.is_empty() { "" } else { "." };
            return write!(f, "{sign}{whole}{point}{fraction}");
        }
        let (first, others) = self.digits.split_at(1);
        let point = if others.is_empty() { "" } else { "." };
        write!(f, "{sign}{first}{point}{others}")?;
        match self.adjusted() {
            0 => Ok(()),
            exponent => write!(f, "E{exponent:+}"),
        }
    }
}

#[test]
fn numbers_are_written_as_java_writes_them() {
    for (read, written) in [
        ("0", "0"),
        ("-0.0", "0.0"),
        ("1e300", "1E+300"),
        ("-1.5e-7", "-1.5E-7"),
        ("0.000001", "0.000001"),
        ("12.50", "12.50"),
        ("0.1", "0.1"),
        ("9223372036854775807", "9223372036854775807"),
        ("5e-324", "5E-324"),
    ] {
        assert_eq!(read.parse::<Decimal>().unwrap().to_string(), written);
    }
    assert!("NaN".parse::<Decimal>().is_err() && "".parse::<Decimal>().is_err());
}

#[test]
fn numbers_are_compared_by_value() {
    let ascending = ["-1e300", "-2", "-1.5", "-0.1", "0", "1e-9", "0.1", "1", "9", "10", "10.5", "1e300"];
    let numbers = ascending.map(|text| text.parse::<Decimal>().unwrap());
    for (i, a) in numbers.iter().enumerate() {
        for (j, b) in numbers.iter().enumerate() {
            assert_eq!(a.compare(b), i.cmp(&j), "{a} {b}");
        }
    }
    assert_eq!("1.50".parse::<Decimal>().unwrap().compare(&"15e-1".parse().unwrap()), Ordering::Equal);
}
