//! What values a tag may have.

use super::{MAX_VALUE_BYTES, Tag, TagError, TagType, TagValues, counted, typed};

/// The most values of a tag.
const MAX_VALUES: usize = 10_000_000;
/// Digits of the greatest step: so many tell a number of 64 bits exactly, and it tells them.
const MAX_UNITS: i64 = 999_999_999_999_999;

/// Checks the values of a tag, behind these.
pub(super) fn check_values(tag: &Tag, before: &[Tag]) -> Result<(), TagError> {
    let wrong = |message: String| Err(TagError::BadValues { tag: tag.name.clone(), message });
    check_type(&tag.values).or_else(wrong)?;
    let mut texts: Vec<&String> = match tag.values.plain() {
        TagValues::OneOf(list) => list.iter().collect(),
        TagValues::Listed { values, of } => {
            if of.iter().any(|&choice| choice >= counted(values.len())) {
                return wrong("a device has a value that is none of its list".into());
            }
            values.iter().collect()
        }
        TagValues::Numbered { prefix, .. } | TagValues::Serial { prefix, .. } => vec![prefix],
        TagValues::Within { tag: outer, lists } => {
            let Some(outer) = before.get(usize::from(*outer)) else {
                return wrong("it is within a tag that does not stand before it".into());
            };
            let (has, needs) = (lists.len(), outer.values.count());
            if counted(has) != needs {
                return wrong(format!("it has {has} lists, and {} has {needs} values: write one for each", outer.name));
            }
            if lists.iter().any(Vec::is_empty) {
                return wrong("one of its lists is empty".into());
            }
            lists.iter().flatten().collect()
        }
        TagValues::Steps { .. } | TagValues::Typed { .. } => Vec::new(),
    };
    let count = usize::try_from(tag.values.count()).unwrap_or(usize::MAX);
    if !tag.values.is_serial() && (count == 0 || count > MAX_VALUES) {
        return wrong(format!("it has {count} values: write 1 to {MAX_VALUES}"));
    }
    let is_numbered = matches!(tag.values, TagValues::Numbered { .. } | TagValues::Serial { .. });
    if let Some(value) = texts.iter().find(|text| !(is_value(text) || is_numbered && text.is_empty())) {
        return Err(TagError::BadValue { tag: tag.name.clone(), value: (*value).clone() });
    }
    texts.sort_unstable();
    match texts.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => wrong(format!("{:?} stands there twice", pair[0])),
        None => Ok(()),
    }
}

/// Whether every database takes it as it is, in a line, an address and a statement.
fn is_value(text: &str) -> bool {
    (1..=MAX_VALUE_BYTES).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_'))
}

/// Checks that values are of their type.
fn check_type(values: &TagValues) -> Result<(), String> {
    if let TagValues::Steps { from, step, count, decimals } = values.plain() {
        let last = step.checked_mul(i64::from(*count) - 1).and_then(|above| from.checked_add(above));
        let is_held = |units: i64| (-MAX_UNITS..=MAX_UNITS).contains(&units);
        if *step < 1 || !is_held(*from) || !last.is_some_and(is_held) || *decimals > typed::MAX_DECIMALS {
            return Err(format!(
                "its numbers are not told exactly: a step above 0, at most {} decimal places, at most 15 digits",
                typed::MAX_DECIMALS
            ));
        }
        if *decimals > 0 && values.tag_type() == TagType::Integer {
            return Err("an integer has no decimal places".into());
        }
    }
    let TagValues::Typed { tag_type, values } = values else { return Ok(()) };
    let mut texts: Box<dyn Iterator<Item = &String>> = match &**values {
        TagValues::OneOf(list) | TagValues::Listed { values: list, .. } => Box::new(list.iter()),
        TagValues::Within { lists, .. } => Box::new(lists.iter().flatten()),
        TagValues::Steps { .. } if *tag_type != TagType::Truth => Box::new(std::iter::empty()),
        TagValues::Steps { .. } | TagValues::Numbered { .. } | TagValues::Serial { .. } | TagValues::Typed { .. } => {
            return Err(format!(
                "values of the type {} are a list{}",
                tag_type.name(),
                match tag_type {
                    TagType::Integer | TagType::Number => ", or a count from a number on",
                    TagType::Text | TagType::Truth => "",
                }
            ));
        }
    };
    let wrong = texts.find(|text| !tag_type.is_canonical(text));
    wrong.map_or(Ok(()), |text| Err(format!("{text:?} is not how a value of the type {} is written", tag_type.name())))
}
