//! The types of tags: what a database that has such columns stores a value as, and the one text that stands for it elsewhere.

use super::{Rest, TagValue};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The most decimal places of a step.
pub(super) const MAX_DECIMALS: u8 = 9;

/// The type of a tag.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TagType {
    /// A text.
    #[default]
    Text,
    /// A whole number of 64 bits but the least, in decimal digits.
    Integer,
    /// A number of 64 bits, finite, in the fewest decimal digits that tell it, as Rust's `Display` writes it.
    Number,
    /// `true` or `false`.
    Truth,
}

/// A value of a tag in its type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TypedTag<'a> {
    /// A text.
    Text(TagValue<'a>),
    /// A whole number.
    Integer(i64),
    /// A number.
    Number(f64),
    /// True or false.
    Truth(bool),
}

impl TagType {
    /// The word in a profile.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Truth => "truth",
        }
    }

    /// Whether a text is the one that stands for a value of this type.
    #[must_use]
    pub fn is_canonical(self, text: &str) -> bool {
        match self {
            Self::Text => true,
            // The least of 64 bits is what some databases write for no value.
            Self::Integer => text.parse::<i64>().is_ok_and(|whole| whole > i64::MIN && whole.to_string() == text),
            // Not every database tells a zero below 0 from 0.
            Self::Number => {
                text.parse::<f64>().is_ok_and(|number| number.is_finite() && number.to_string() == text) && text != "-0"
            }
            Self::Truth => matches!(text, "true" | "false"),
        }
    }
}

impl fmt::Display for TypedTag<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(value) => value.fmt(f),
            Self::Integer(whole) => whole.fmt(f),
            Self::Number(number) => number.fmt(f),
            Self::Truth(truth) => truth.fmt(f),
        }
    }
}

/// A value in a type; as text where it is none of that type.
pub(super) fn of(value: TagValue<'_>, tag_type: TagType) -> TypedTag<'_> {
    let typed = match (tag_type, value.rest) {
        (TagType::Integer, Rest::Decimal(units, 0)) => Some(TypedTag::Integer(units)),
        // Both are exact, so that their quotient is the number nearest to the decimal.
        #[expect(clippy::cast_precision_loss, reason = "at most 15 digits")]
        (TagType::Number, Rest::Decimal(units, decimals)) => {
            Some(TypedTag::Number(units as f64 / scale(decimals) as f64))
        }
        (TagType::Integer, Rest::Nothing) => value.text.parse().map(TypedTag::Integer).ok(),
        (TagType::Number, Rest::Nothing) => value.text.parse().map(TypedTag::Number).ok(),
        (TagType::Truth, Rest::Nothing) => value.text.parse().map(TypedTag::Truth).ok(),
        _ => None,
    };
    typed.unwrap_or(TypedTag::Text(value))
}

fn scale(decimals: u8) -> u64 {
    10_u64.pow(decimals.min(MAX_DECIMALS).into())
}

/// Writes so many units of the last of so many decimal places, without zeros at the end of those.
pub(super) fn write_decimal(units: i64, decimals: u8, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let (scale, units_above_0) = (scale(decimals), units.unsigned_abs());
    let (whole, mut part, mut places) = (units_above_0 / scale, units_above_0 % scale, usize::from(decimals));
    write!(f, "{}{whole}", if units < 0 { "-" } else { "" })?;
    if part == 0 {
        return Ok(());
    }
    while part % 10 == 0 {
        (part, places) = (part / 10, places - 1);
    }
    write!(f, ".{part:0places$}")
}

/// How many units of the last of so many decimal places a text may mean.
pub(super) fn units_of(text: &str, decimals: u8) -> Option<i64> {
    #[expect(clippy::cast_precision_loss, reason = "at most 9 decimal places")]
    let units = text.parse::<f64>().ok()? * scale(decimals) as f64;
    #[expect(clippy::cast_possible_truncation, reason = "whoever asks looks whether the text is that of these units")]
    units.is_finite().then_some(units.round() as i64)
}

#[cfg(test)]
mod tests {
    use super::super::{Tag, TagValues, Tags};
    use super::*;
    use proptest::prelude::*;

    fn typed(tag_type: TagType, values: TagValues) -> Result<Tags, String> {
        let values = TagValues::Typed { tag_type, values: Box::new(values) };
        Tags::new(3, vec![Tag { name: "a".into(), values }]).map_err(|error| error.to_string())
    }

    fn list(values: &[&str]) -> TagValues {
        TagValues::OneOf(values.iter().map(|&value| value.into()).collect())
    }

    fn of_each(tags: &Tags) -> Vec<(String, TypedTag<'_>)> {
        let tag_type = tags.as_slice()[0].values.tag_type();
        let values = (0..tags.choices(0)).filter_map(|choice| tags.value(0, choice));
        values.map(|value| (value.to_string(), value.typed(tag_type))).collect()
    }

    proptest! {
        #[test]
        fn a_step_is_the_number_that_its_text_means_and_is_found_by_it(
            from in -900_000_000_000_000_i64..900_000_000_000_000, step in 1_i64..1_000_000_000, decimals in 0..=MAX_DECIMALS,
            count in 1_u32..50,
        ) {
            let steps = || TagValues::Steps { from, step, count, decimals };
            let tags = typed(TagType::Number, steps()).unwrap();
            for ((text, value), choice) in of_each(&tags).into_iter().zip(0..) {
                prop_assert!(TagType::Number.is_canonical(&text), "{text}");
                prop_assert_eq!(value, TypedTag::Number(text.parse().unwrap()));
                prop_assert_eq!(value.to_string(), text.as_str());
                prop_assert_eq!(tags.choice_of(0, &text), Some(choice));
            }
            if decimals == 0 {
                let tags = typed(TagType::Integer, steps()).unwrap();
                for (text, value) in of_each(&tags) {
                    prop_assert_eq!(value, TypedTag::Integer(text.parse().unwrap()));
                }
            }
        }
    }

    #[test]
    fn steps_are_written_without_zeros_at_the_end() {
        let tags = typed(TagType::Number, TagValues::Steps { from: -125, step: 25, count: 10, decimals: 2 }).unwrap();
        let texts: Vec<_> = of_each(&tags).into_iter().map(|(text, _)| text).collect();
        assert_eq!(texts, ["-1.25", "-1", "-0.75", "-0.5", "-0.25", "0", "0.25", "0.5", "0.75", "1"]);
        for text in ["-1.250", "-1.24", "1.25", "0.250", "x", "", "1e0", "inf", "-0"] {
            assert_eq!(tags.choice_of(0, text), None, "{text}");
        }
        let found: std::collections::BTreeSet<_> = (0..500).map(|device| tags.choice(0, device)).collect();
        assert_eq!(found.len(), 10, "each value is some device's");
    }

    #[test]
    fn a_value_has_one_text_in_its_type() {
        for (tag_type, value, expected) in [
            (TagType::Integer, "-9223372036854775807", Some(TypedTag::Integer(-i64::MAX))),
            (TagType::Integer, "-9223372036854775808", None),
            (TagType::Integer, "007", None),
            (TagType::Integer, "1.5", None),
            (TagType::Number, "1500", Some(TypedTag::Number(1500.0))),
            (TagType::Number, "0.1", Some(TypedTag::Number(0.1))),
            (TagType::Number, "1500.0", None),
            (TagType::Number, "1e3", None),
            (TagType::Number, "-0", None),
            (TagType::Number, "inf", None),
            (TagType::Truth, "true", Some(TypedTag::Truth(true))),
            (TagType::Truth, "1", None),
        ] {
            let tags = typed(tag_type, list(&[value]));
            match (tags, expected) {
                (Ok(tags), Some(expected)) => assert_eq!(of_each(&tags), [(value.to_owned(), expected)]),
                (Err(error), None) => assert!(error.contains("is not how a value of the type"), "{error}"),
                (tags, _) => panic!("{tag_type:?} {value}: {tags:?}"),
            }
        }
    }

    #[test]
    fn what_no_type_takes_is_refused_and_told() {
        let steps = |from, step, count, decimals| TagValues::Steps { from, step, count, decimals };
        let serial = TagValues::Serial { prefix: "s".into(), life: 3 };
        for (tag_type, values, part) in [
            (TagType::Integer, steps(0, 0, 3, 0), "a step above 0"),
            (TagType::Integer, steps(i64::MAX, 1, 3, 0), "at most 15 digits"),
            (TagType::Number, steps(0, 1, 3, 10), "at most 9 decimal places"),
            (TagType::Number, steps(0, 1, 0, 0), "it has 0 values"),
            (TagType::Integer, steps(0, 1, 3, 1), "an integer has no decimal places"),
            (TagType::Truth, steps(0, 1, 3, 0), "values of the type truth are a list"),
            (TagType::Integer, serial, "a list, or a count"),
            (TagType::Number, list(&["1", "1"]), "stands there twice"),
        ] {
            let error = typed(tag_type, values.clone()).unwrap_err();
            assert!(error.contains(part), "{values:?}: {error}");
        }
    }
}
