//! Values as people write them: `30s`, `10k`, `16KiB`, `5%`.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use std::{fmt, str::FromStr, time::Duration};

/// A value that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// Not a length of time.
    #[error("{0:?} is no duration: write a number with a unit, such as 500ms, 30s, 10m or 1h30m")]
    Duration(String),
    /// A length of time that nobody means.
    #[error("{0:?} is longer than 100 years: is the unit the one that you meant?")]
    TooLong(String),
    /// Not a count.
    #[error("{0:?} is no count: write a whole number, such as 500, 10k or 1M")]
    Count(String),
    /// Not a rate.
    #[error("{0:?} is no rate: write a positive finite number per second, such as 1000 or 10k")]
    Rate(String),
    /// Not a size.
    #[error("{0:?} is no size: write a number of bytes, such as 22, 16KiB or 1MiB")]
    Bytes(String),
    /// Not a share.
    #[error("{0:?} is no share: write a percentage such as 5% or a number from 0 to 1")]
    Share(String),
}

/// Splits `1.5k` into its number and its unit.
fn split(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let number: f64 = text.get(..end)?.parse().ok()?;
    Some((number, text.get(end..)?.trim()))
}

fn scaled(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let (number, unit) = split(text)?;
    let (_, factor) = units.iter().find(|(name, _)| *name == unit)?;
    Some(number * factor)
}

const DECIMAL: &[(&str, f64)] = &[("", 1.0), ("k", 1e3), ("K", 1e3), ("M", 1e6), ("G", 1e9)];

macro_rules! unit {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
        pub struct $name(pub $inner);

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Written::deserialize(deserializer)?.0.parse().map_err(D::Error::custom)
            }
        }
    };
}

/// A string or a bare number, as its text.
pub(crate) struct Written(pub(crate) String);

impl<'de> Deserialize<'de> for Written {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = Written;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number or a text with a unit, such as \"30s\" or \"10k\"")
            }
            fn visit_str<E>(self, text: &str) -> Result<Written, E> {
                Ok(Written(text.into()))
            }
            fn visit_bool<E>(self, value: bool) -> Result<Written, E> {
                Ok(Written(value.to_string()))
            }
            fn visit_i64<E>(self, number: i64) -> Result<Written, E> {
                Ok(Written(number.to_string()))
            }
            fn visit_u64<E>(self, number: u64) -> Result<Written, E> {
                Ok(Written(number.to_string()))
            }
            fn visit_i128<E>(self, number: i128) -> Result<Written, E> {
                Ok(Written(number.to_string()))
            }
            fn visit_u128<E>(self, number: u128) -> Result<Written, E> {
                Ok(Written(number.to_string()))
            }
            fn visit_f64<E>(self, number: f64) -> Result<Written, E> {
                Ok(Written(number.to_string()))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

unit! {
    /// A length of time: `500ms`, `30s`, `2m30s`, `1h`.
    Span(Duration)
}

impl Span {
    /// A span of whole seconds.
    #[must_use]
    pub const fn from_secs(seconds: u64) -> Self {
        Self(Duration::from_secs(seconds))
    }

    /// The span in nanoseconds.
    #[must_use]
    pub fn as_ns(self) -> u64 {
        u64::try_from(self.0.as_nanos()).unwrap_or(u64::MAX)
    }
}

/// Hundred years: longer spans are slips.
const LONGEST: Duration = Duration::from_secs(36_525 * 86_400);
const NS_PER_S: u64 = 1_000_000_000;
const TIME: &[(&str, u64)] = &[
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("ms", 1_000_000),
    ("s", NS_PER_S),
    ("m", 60 * NS_PER_S),
    ("h", 3_600 * NS_PER_S),
    ("d", 86_400 * NS_PER_S),
];

/// A number with a unit of time; the longest duration for what is beyond all. Whole numbers are exact.
fn duration(text: &str) -> Option<Duration> {
    let (number, name) = split(text)?;
    let &(_, unit_ns) = TIME.iter().find(|(unit, _)| *unit == name)?;
    let digits = text.trim().strip_suffix(name).unwrap_or_default();
    Some(match digits.trim().parse::<u64>() {
        Ok(whole) => {
            let ns = u128::from(whole) * u128::from(unit_ns);
            let (seconds, ns) = (ns / u128::from(NS_PER_S), ns % u128::from(NS_PER_S));
            u64::try_from(seconds).map_or(Duration::MAX, |s| Duration::new(s, u32::try_from(ns).unwrap_or_default()))
        }
        Err(_) => Duration::try_from_secs_f64(number * unit_ns as f64 / NS_PER_S as f64).unwrap_or(Duration::MAX),
    })
}

impl FromStr for Span {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let wrong = || UnitError::Duration(text.into());
        let mut rest = text.trim();
        if rest == "0" {
            return Ok(Self(Duration::ZERO));
        }
        if rest.is_empty() {
            return Err(wrong());
        }
        let mut sum = Duration::ZERO;
        while !rest.is_empty() {
            let digits = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).ok_or_else(wrong)?;
            let unit_end = rest
                .get(digits..)
                .and_then(|r| r.find(|c: char| c.is_ascii_digit()))
                .map_or(rest.len(), |n| digits + n);
            let part = rest.get(..unit_end).and_then(duration).ok_or_else(wrong)?;
            sum = sum.saturating_add(part);
            rest = rest.get(unit_end..).unwrap_or_default();
        }
        if sum > LONGEST { Err(UnitError::TooLong(text.into())) } else { Ok(Self(sum)) }
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = self.0.as_nanos();
        let units =
            [("h", 3_600_000_000_000), ("m", 60_000_000_000), ("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000)];
        for (unit, size) in units {
            if ns >= size && ns.is_multiple_of(size) {
                return write!(f, "{}{unit}", ns / size);
            }
        }
        write!(f, "{ns}ns")
    }
}

unit! {
    /// A count: `500`, `10k`, `1M`.
    Count(u64)
}

impl FromStr for Count {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let wrong = || UnitError::Count(text.into());
        if let Ok(exact) = text.trim().parse::<u64>() {
            return Ok(Self(exact));
        }
        let number = scaled(text, DECIMAL).filter(|n| n.fract() == 0.0 && *n < 9e15).ok_or_else(wrong)?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "checked to be a whole number in range"
        )]
        Ok(Self(number as u64))
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

unit! {
    /// A rate per second: `1000`, `2.5k`; positive and finite.
    Rate(f64)
}

impl FromStr for Rate {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let number = scaled(text.trim().trim_end_matches("/s"), DECIMAL);
        number.filter(|n| n.is_finite() && *n > 0.0 && *n <= 1e9).map(Self).ok_or_else(|| UnitError::Rate(text.into()))
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

unit! {
    /// A size in bytes: `22`, `16KiB`, `1MB`.
    Bytes(u64)
}

const SIZES: &[(&str, f64)] = &[
    ("", 1.0),
    ("B", 1.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
];

impl FromStr for Bytes {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let number = scaled(text, SIZES).filter(|n| n.fract() == 0.0 && *n < 9e15);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "checked to be a whole number in range"
        )]
        number.map(|n| Self(n as u64)).ok_or_else(|| UnitError::Bytes(text.into()))
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (unit, size) in [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)] {
            if self.0 >= size && self.0.is_multiple_of(size) {
                return write!(f, "{}{unit}", self.0 / size);
            }
        }
        write!(f, "{}", self.0)
    }
}

unit! {
    /// A share of a whole: `5%` or `0.05`.
    Share(f64)
}

impl FromStr for Share {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let number = scaled(text, &[("", 1.0), ("%", 0.01)]);
        number.filter(|n| (0.0..=1.0).contains(n)).map(Self).ok_or_else(|| UnitError::Share(text.into()))
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = format!("{}%", (self.0 * 1e6).round() / 1e4);
        if percent.parse() == Ok(*self) { f.write_str(&percent) } else { write!(f, "{}", self.0) }
    }
}

/// A value, or `"auto"`: worked out from the rest of the profile.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Auto<T> {
    /// Worked out.
    #[default]
    Auto,
    /// Given.
    Set(T),
}

impl<T> Auto<T> {
    /// The given value, if there is one.
    #[must_use]
    pub fn set(self) -> Option<T> {
        match self {
            Self::Auto => None,
            Self::Set(value) => Some(value),
        }
    }
}

impl<T: fmt::Display> Serialize for Auto<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Auto => serializer.serialize_str("auto"),
            Self::Set(value) => serializer.collect_str(value),
        }
    }
}

impl<'de, T: FromStr<Err: fmt::Display>> Deserialize<'de> for Auto<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Written(text) = Written::deserialize(deserializer)?;
        if text == "auto" { Ok(Self::Auto) } else { text.parse().map(Self::Set).map_err(D::Error::custom) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn spans_are_read_as_people_write_them() {
        for (text, ms) in
            [("500ms", 500), ("30s", 30_000), ("2m30s", 150_000), ("1h", 3_600_000), ("1.5s", 1_500), ("0", 0)]
        {
            assert_eq!(text.parse::<Span>().map(|s| s.0.as_millis()), Ok(ms), "{text}");
        }
        for bad in ["", "30", "s", "-1s", "1e308s", "NaN", "infs", "5 parsecs", "18446744073709551616s"] {
            assert!(bad.parse::<Span>().is_err(), "{bad}");
        }
    }

    #[test]
    fn counts_rates_sizes_and_shares() {
        assert_eq!("10k".parse(), Ok(Count(10_000)));
        assert_eq!("18446744073709551615".parse(), Ok(Count(u64::MAX)));
        assert_eq!("16KiB".parse(), Ok(Bytes(16_384)));
        assert_eq!("5%".parse(), Ok(Share(0.05)));
        assert_eq!("2.5k/s".parse(), Ok(Rate(2_500.0)));
        assert!("18446744073709551616".parse::<Count>().is_err());
        assert!("1.5".parse::<Count>().is_err());
        for bad in ["-5", "0", "NaN", "inf", "1e308", ""] {
            assert!(bad.parse::<Rate>().is_err(), "{bad}");
        }
        for bad in ["101%", "-1%", "2", "x"] {
            assert!(bad.parse::<Share>().is_err(), "{bad}");
        }
    }

    #[test]
    fn what_is_small_or_exact_is_shown_as_it_is() {
        for text in ["0.000001%", "0.0000004", "0.07", "29%", "100%", "0"] {
            let share: Share = text.parse().unwrap();
            assert_eq!(share.to_string().parse(), Ok(share), "{text}: {share}");
        }
        assert_eq!(
            ["5%", "0.07", "0.125%"].map(|text| text.parse::<Share>().unwrap().to_string()),
            ["5%", "7%", "0.125%"]
        );
        for text in ["3155759999999999999ns", "36524d23h59m59s999ms999us999ns", "1d1ns"] {
            let span: Span = text.parse().unwrap();
            assert_eq!(span.to_string().parse(), Ok(span), "{text}: {span}");
        }
        assert_eq!("1d1ns".parse::<Span>().unwrap().as_ns(), 86_400_000_000_001);
        assert!(matches!("36525d1s".parse::<Span>(), Err(UnitError::TooLong(_))));
    }

    proptest! {
        #[test]
        fn no_text_makes_a_unit_panic(text in "\\PC{0,24}") {
            let _ = text.parse::<Span>();
            let _ = text.parse::<Count>();
            let _ = text.parse::<Rate>();
            let _ = text.parse::<Bytes>();
            let _ = text.parse::<Share>();
        }

        #[test]
        fn what_is_printed_reads_back(ns in 0_u64..1_000_000_000_000_000, n in 0_u64..1 << 50) {
            let span = Span(Duration::from_nanos(ns));
            let back: Span = span.to_string().parse().unwrap();
            prop_assert_eq!(back, span);
            prop_assert_eq!(Bytes(n).to_string().parse(), Ok(Bytes(n)));
            prop_assert_eq!(Count(n).to_string().parse(), Ok(Count(n)));
        }
    }
}
