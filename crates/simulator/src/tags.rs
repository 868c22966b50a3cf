//! The tags of a dataset's devices, as written in a profile.

use crate::{ParameterError, config::typed};
use iotbench_core::{Setting, Settings, Tag, TagError, TagId, TagType, TagValues, Tags};
use serde::Deserialize;
use serde_json::{Number, Value};

/// Which tags devices have.
pub(crate) const TAGS: Setting = Setting {
    key: "tags",
    default: "",
    help: "static attributes of each device, which databases index: [{ name = \"site\", values = [\"east\", \"west\"] }, \
           { name = \"rack\", count = 100 }]; by chance one of `values`, or a number below `count` after `prefix`, or, with \
           `within` an earlier tag, one of that list of `lists` that stands where its value does; or, with `life`, the serial \
           number of a unit that is replaced after so many datapoints, and never where that is 0. With `type`, integer, number or truth instead of text, `values` \
           and `lists` are of that type, and `count` means the numbers from `from` on, each `step` above the one before it: \
           { name = \"load\", type = \"number\", count = 100, from = 0.5, step = 0.25 }",
};

/// A tag, as written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TagConfig {
    name: String,
    #[serde(default, rename = "type")]
    tag_type: TagType,
    #[serde(default)]
    values: Vec<Value>,
    #[serde(default)]
    count: u32,
    prefix: Option<String>,
    from: Option<Number>,
    step: Option<Number>,
    within: Option<String>,
    lists: Option<Vec<Vec<Value>>>,
    life: Option<u32>,
}

/// The tags that a profile gives devices; `None` where it says nothing of them.
pub(crate) fn written(parameters: &Settings, seed: u64) -> Result<Option<Tags>, ParameterError> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Written {
        tags: Vec<TagConfig>,
    }
    let Some(tags) = parameters.0.get(TAGS.key).cloned() else { return Ok(None) };
    let Written { tags } = typed(&Settings([(TAGS.key.to_owned(), tags)].into_iter().collect()), &[TAGS])?;
    let mut meant: Vec<Tag> = Vec::with_capacity(tags.len());
    for (place, tag) in tags.into_iter().enumerate() {
        let tag = tag.meant(&key_of(place), &meant)?;
        meant.push(tag);
    }
    Ok(Some(tags_of(seed, &meant)?))
}

/// These tags, in any place of a profile's dataset.
pub(crate) fn tags_of(seed: u64, tags: &[Tag]) -> Result<Tags, ParameterError> {
    Tags::new(seed, tags.to_vec()).map_err(|error| wrong_tag(tags, &error))
}

/// What is wrong with one of these, at its place; of two with one name the later one is at fault.
pub(crate) fn wrong_tag(tags: &[Tag], error: &TagError) -> ParameterError {
    let place = error.tag().and_then(|name| tags.iter().rposition(|tag| tag.name == name));
    ParameterError::key(place.map_or(TAGS.key.into(), key_of), error)
}

/// The key of one of them.
fn key_of(place: usize) -> String {
    format!("{}[{place}]", TAGS.key)
}

impl TagConfig {
    fn meant(self, key: &str, before: &[Tag]) -> Result<Tag, ParameterError> {
        let (name, tag_type) = (self.name.clone(), self.tag_type);
        let values = self.values(before);
        let values = values.map_err(|message| ParameterError::key(key, format!("{name}: {message}")))?;
        let values = match tag_type {
            TagType::Text => values,
            _ => TagValues::Typed { tag_type, values: Box::new(values) },
        };
        Ok(Tag { name, values })
    }

    /// Its values as texts.
    fn values(self, before: &[Tag]) -> Result<TagValues, String> {
        let (is_text, tag_type) = (self.tag_type == TagType::Text, self.tag_type);
        let takes_steps = matches!(tag_type, TagType::Integer | TagType::Number) && self.count > 0;
        if !takes_steps && (self.from.is_some() || self.step.is_some()) {
            return Err("from and step stand beside a count and the type integer or number".into());
        }
        if !is_text && self.life.is_some() {
            return Err("a serial number is a text: life goes without a type".into());
        }
        if let Some(life) = self.life {
            let is_alone = self.values.is_empty() && self.count == 0 && self.within.is_none() && self.lists.is_none();
            if !is_alone {
                return Err("write life and maybe prefix, and neither values nor count nor within nor lists".into());
            }
            return Ok(TagValues::Serial { prefix: self.prefix.unwrap_or_default(), life });
        }
        let texts = |list: Vec<Value>| list.iter().map(|value| text_of(value, tag_type)).collect::<Result<_, _>>();
        match (self.values.is_empty(), self.count, self.prefix, self.within, self.lists) {
            (false, 0, None, None, None) => texts(self.values).map(TagValues::OneOf),
            (true, 0, None, None, None) if tag_type == TagType::Truth => {
                Ok(TagValues::OneOf(["false", "true"].map(Into::into).to_vec()))
            }
            (true, count @ 1.., None, None, None) if takes_steps => {
                steps(self.from.as_ref(), self.step.as_ref(), count)
            }
            (true, count @ 1.., prefix, None, None) if is_text => {
                Ok(TagValues::Numbered { prefix: prefix.unwrap_or_default(), count })
            }
            (true, 0, None, Some(outer), Some(lists)) => match before.iter().position(|tag| tag.name == outer) {
                Some(place) => {
                    let lists = lists.into_iter().map(texts).collect::<Result<_, _>>()?;
                    Ok(TagValues::Within { tag: TagId::try_from(place).unwrap_or(TagId::MAX), lists })
                }
                None => Err(format!("it is within {outer:?}, and no tag before it is called so")),
            },
            _ if is_text => Err("write either values, or count and maybe prefix, or within and lists, or life".into()),
            _ => Err(format!(
                "with the type {} write either values, or within and lists{}",
                tag_type.name(),
                match tag_type {
                    TagType::Truth => ", or neither for both values",
                    _ => ", or count and maybe from and step",
                }
            )),
        }
    }
}

/// The text that stands for a value of a type.
fn text_of(value: &Value, tag_type: TagType) -> Result<String, String> {
    let text = match (tag_type, value) {
        (TagType::Text, Value::String(text)) => Some(text.clone()),
        (TagType::Integer, Value::Number(number)) => number.as_i64().map(|whole| whole.to_string()),
        // A zero below 0 is 0.
        (TagType::Number, Value::Number(number)) => number.as_f64().map(|number| (number + 0.0).to_string()),
        (TagType::Truth, Value::Bool(truth)) => Some(truth.to_string()),
        _ => None,
    };
    let has_quotes = tag_type == TagType::Text;
    let wanted = if has_quotes { "a text, in quotes; type = \"number\" takes numbers" } else { tag_type.name() };
    text.ok_or_else(|| format!("{value} is not of its type: write {wanted}"))
}

/// So many numbers from one on, by a step, in units of the last decimal place that one of the two has.
fn steps(from: Option<&Number>, step: Option<&Number>, count: u32) -> Result<TagValues, String> {
    let decimal = |number: Option<&Number>, default: f64| {
        let number = number.map_or(Some(default), Number::as_f64).unwrap_or(f64::INFINITY);
        let text = (number + 0.0).to_string();
        let (whole, places) = text.split_once('.').unwrap_or((&text, ""));
        (whole.to_owned(), places.to_owned())
    };
    let (from, step) = (decimal(from, 0.0), decimal(step, 1.0));
    let decimals = from.1.len().max(step.1.len());
    let units = |(whole, places): &(String, String)| {
        let units = format!("{whole}{places:0<decimals$}").parse::<i64>();
        units.map_err(|_| format!("{whole}.{places} is too great, or has too many decimal places"))
    };
    let (from, step) = (units(&from)?, units(&step)?);
    Ok(TagValues::Steps { from, step, count, decimals: u8::try_from(decimals).unwrap_or(u8::MAX) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn tags(value: Value) -> Result<Option<Tags>, ParameterError> {
        written(&Settings([("tags".to_owned(), value)].into_iter().collect()), 3)
    }

    #[test]
    fn each_way_to_write_a_tag_is_understood() {
        let meant = tags(json!([
            { "name": "region", "values": ["eu", "us"] },
            { "name": "centre", "within": "region", "lists": [["eu-1", "eu-2"], ["us-1"]] },
            { "name": "rack", "count": 100, "prefix": "r" },
            { "name": "serial", "life": 500, "prefix": "s" },
        ]));
        let meant = meant.unwrap().unwrap();
        assert_eq!([0, 1, 2].map(|id| meant.choices(id)), [2, 3, 100]);
        assert_eq!(meant.life().map(std::num::NonZeroU32::get), Some(500));
        assert_eq!(meant.value(2, 7).unwrap().to_string(), "r7");
        assert_eq!(tags(json!([])).unwrap(), Some(Tags::new(3, Vec::new()).unwrap()), "none, and that was said");
        assert_eq!(written(&Settings::default(), 3).unwrap(), None);
    }

    #[test]
    fn values_of_each_type_are_written_as_what_they_are() {
        let meant = tags(json!([
            { "name": "floor", "type": "integer", "count": 3, "from": -1 },
            { "name": "load", "type": "number", "count": 3, "from": -0.5, "step": 0.25 },
            { "name": "leased", "type": "truth" },
            { "name": "phases", "type": "integer", "values": [1, 3] },
            { "name": "fuse", "type": "number", "within": "phases", "lists": [[16, 0.5], [63.5]] },
            { "name": "sealed", "type": "truth", "values": [true] },
        ]));
        let meant = meant.unwrap().unwrap();
        let values = |id: TagId| -> Vec<_> {
            (0..meant.choices(id)).map(|choice| meant.value(id, choice).unwrap().to_string()).collect()
        };
        let types: Vec<_> = meant.as_slice().iter().map(|tag| tag.values.tag_type()).collect();
        use TagType::{Integer, Number, Truth};
        assert_eq!(types, [Integer, Number, Truth, Integer, Number, Truth]);
        assert_eq!(
            (values(0), values(1)),
            (vec!["-1".into(), "0".into(), "1".into()], { vec!["-0.5".into(), "-0.25".into(), "0".into()] })
        );
        assert_eq!(
            (values(2).join(","), values(4).join(","), values(5).join(",")),
            ("false,true".into(), "16,0.5,63.5".into(), "true".into())
        );
    }

    #[test]
    fn what_is_no_tag_is_told_with_its_key() {
        for (value, part) in [
            (
                json!([{ "name": "a" }]),
                "tags[0]: a: write either values, or count and maybe prefix, or within and lists, or life",
            ),
            (json!([{ "name": "a", "values": ["x"], "prefix": "p" }]), "write either values"),
            (json!([{ "name": "a", "values": [1] }]), "1 is not of its type: write a text, in quotes"),
            (json!([{ "name": "a", "type": "integer", "values": [1.5] }]), "1.5 is not of its type: write integer"),
            (json!([{ "name": "a", "type": "truth", "values": ["true"] }]), "\"true\" is not of its type: write truth"),
            (json!([{ "name": "a", "type": "float", "count": 3 }]), "unknown variant `float`, expected one of `text`"),
            (json!([{ "name": "a", "type": "truth", "count": 3 }]), "or neither for both values"),
            (json!([{ "name": "a", "type": "number", "prefix": "p", "count": 3 }]), "or count and maybe from and step"),
            (json!([{ "name": "a", "type": "number" }]), "with the type number write either values"),
            (json!([{ "name": "a", "type": "integer", "count": 3, "step": 0.5 }]), "an integer has no decimal places"),
            (json!([{ "name": "a", "type": "number", "count": 3, "step": 0 }]), "a step above 0"),
            (json!([{ "name": "a", "type": "number", "count": 3, "step": 1e300 }]), "is too great"),
            (json!([{ "name": "a", "type": "number", "count": 3, "step": 1e-12 }]), "at most 9 decimal places"),
            (json!([{ "name": "a", "count": 3, "from": 1 }]), "from and step stand beside a count"),
            (json!([{ "name": "a", "type": "integer", "life": 3 }]), "a serial number is a text"),
            (json!([{ "name": "a", "count": 3, "lists": [["x"]] }]), "write either values"),
            (json!([{ "name": "a", "values": ["x"], "count": 3 }]), "write either values"),
            (json!([{ "name": "a", "values": ["x"], "life": 3 }]), "write life and maybe prefix"),
            (json!([{ "name": "a", "count": 3, "life": 3 }]), "write life and maybe prefix"),
            (json!([{ "name": "a", "within": "b", "lists": [["x"]] }]), "no tag before it is called so"),
            (json!([{ "name": "A", "count": 3 }]), "tags[0]: tag name \"A\" is not of the form"),
            (json!([{ "name": "a", "valus": ["x"] }]), "unknown field `valus`"),
            (json!("a"), "tags: invalid type"),
            (json!([{ "name": "a", "count": 3 }, { "name": "b", "count": "x" }]), "tags[1].count: invalid type"),
            (
                json!([{ "name": "a", "count": 3 }, { "name": "a", "count": 3 }]),
                "tags[1]: the name \"a\" is used twice",
            ),
            (
                json!([{ "name": "a", "count": 3 }, { "name": "time", "count": 3 }]),
                "tags[1]: tag name \"time\" is reserved",
            ),
        ] {
            let error = tags(value).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
