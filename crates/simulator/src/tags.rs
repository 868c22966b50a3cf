//! The tags of a dataset's devices, as written in a profile.

use crate::{ParameterError, config::typed};
use iotbench_core::{Setting, Settings, Tag, TagError, TagId, TagValues, Tags};
use serde::Deserialize;

/// Which tags devices have.
pub(crate) const TAGS: Setting = Setting {
    key: "tags",
    default: "",
    help: "static attributes of each device, which databases index: [{ name = \"site\", values = [\"east\", \"west\"] }, \
           { name = \"rack\", count = 100 }]; by chance one of `values`, or a number below `count` after `prefix`, or, with \
           `within` an earlier tag, one of that list of `lists` that stands where its value does; or, with `life`, the serial \
           number of a unit that is replaced after so many datapoints",
};

/// A tag, as written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TagConfig {
    name: String,
    #[serde(default)]
    values: Vec<String>,
    #[serde(default)]
    count: u32,
    prefix: Option<String>,
    within: Option<String>,
    lists: Option<Vec<Vec<String>>>,
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
        let name = self.name;
        let wrong = |message: &str| Err(ParameterError::key(key, format!("{name}: {message}")));
        if let Some(life) = self.life {
            let is_alone = self.values.is_empty() && self.count == 0 && self.within.is_none() && self.lists.is_none();
            if !is_alone {
                return wrong("write life and maybe prefix, and neither values nor count nor within nor lists");
            }
            return Ok(Tag { name, values: TagValues::Serial { prefix: self.prefix.unwrap_or_default(), life } });
        }
        let values = match (self.values.is_empty(), self.count, self.prefix, self.within, self.lists) {
            (false, 0, None, None, None) => TagValues::OneOf(self.values),
            (true, count @ 1.., prefix, None, None) => {
                TagValues::Numbered { prefix: prefix.unwrap_or_default(), count }
            }
            (true, 0, None, Some(outer), Some(lists)) => match before.iter().position(|tag| tag.name == outer) {
                Some(place) => TagValues::Within { tag: TagId::try_from(place).unwrap_or(TagId::MAX), lists },
                None => return wrong(&format!("it is within {outer:?}, and no tag before it is called so")),
            },
            _ => return wrong("write either values, or count and maybe prefix, or within and lists, or life"),
        };
        Ok(Tag { name, values })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

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
    fn what_is_no_tag_is_told_with_its_key() {
        for (value, part) in [
            (
                json!([{ "name": "a" }]),
                "tags[0]: a: write either values, or count and maybe prefix, or within and lists, or life",
            ),
            (json!([{ "name": "a", "values": ["x"], "prefix": "p" }]), "write either values"),
            (json!([{ "name": "a", "count": 3, "lists": [["x"]] }]), "write either values"),
            (json!([{ "name": "a", "values": ["x"], "count": 3 }]), "write either values"),
            (json!([{ "name": "a", "values": ["x"], "life": 3 }]), "write life and maybe prefix"),
            (json!([{ "name": "a", "count": 3, "life": 3 }]), "write life and maybe prefix"),
            (json!([{ "name": "a", "life": 0 }]), "a life of 0"),
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
