//! What a signal's shapes take, for help: the tables by which they are parsed.

use super::{number::NumberShape, signal::COMMON, text::TextShape};
use iotbench_core::Setting;

/// A shape of the signals that a profile gives.
#[derive(Clone, Copy, Debug)]
pub struct ShapeInfo {
    /// The word in a profile.
    pub name: &'static str,
    /// What its values are.
    pub gives: &'static str,
    /// Its own keys with their defaults.
    pub keys: &'static [Setting],
}

impl ShapeInfo {
    /// The keys that a signal of any shape takes.
    pub const COMMON: [Setting; 5] = COMMON;

    /// The type of a key's value. A key of several shapes has the same type in all of them.
    #[must_use]
    pub fn type_of(key: &str) -> &'static str {
        match key {
            "name" | "shape" | "type" => "text",
            "decimals" | "cardinality" | "skew" | "hold" | "bytes" | "smooth" => "whole number",
            "period" => "time",
            "states" => "list of texts",
            "weights" | "quantiles" => "list of numbers",
            "lengths" => "list of whole numbers",
            _ => "number",
        }
    }
}

/// Every shape.
#[must_use]
pub fn shapes() -> Vec<ShapeInfo> {
    let numbers = NumberShape::ALL.iter().map(|&(name, keys, _)| ShapeInfo { name, gives: "numbers", keys });
    let texts = TextShape::ALL.iter().map(|&(name, keys, _)| ShapeInfo { name, gives: "texts", keys });
    numbers.chain(texts).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DEFAULT_ORIGIN_NS, DatasetConfig};
    use iotbench_core::Settings;
    use serde_json::{Map, Value, json};
    use std::path::Path;

    /// What the dataset says of one signal with these keys.
    fn error(shape: &str, keys: &[(&str, Value)]) -> Option<String> {
        let mut signal = Map::from_iter([("name".into(), json!("x")), ("shape".into(), json!(shape))]);
        signal.extend(keys.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
        let config = DatasetConfig::named("custom").unwrap().with("signals", json!([signal]));
        config.open(1, DEFAULT_ORIGIN_NS, 1, Path::new(".")).err().map(|e| e.to_string())
    }

    /// The keys in serde's "unknown field `x`, expected one of `a`, `b`".
    fn parsed(build: impl Fn(&Settings, &[Setting]) -> String) -> Vec<String> {
        const STRAY: Setting = Setting { key: "stray", default: "", help: "" };
        let message = build(&Settings(Map::from_iter([("stray".into(), json!(1))])), &[STRAY]);
        assert!(message.contains("unknown field `stray`"), "{message}");
        message.split('`').skip(3).step_by(2).map(Into::into).collect()
    }

    #[test]
    fn the_keys_in_the_help_are_those_that_the_parser_knows() {
        let context = super::super::signal::ShapeContext {
            period_ns: 1_000_000_000,
            hash: crate::counter_hash::CounterHash::new(1),
        };
        let keys = |known: &[Setting]| known.iter().map(|s| s.key.to_owned()).collect::<Vec<_>>();
        for (name, known, build) in NumberShape::ALL {
            assert_eq!(parsed(|s, k| build(s, k, context).unwrap_err().to_string()), keys(known), "{name}");
        }
        for (name, known, build) in TextShape::ALL {
            assert_eq!(parsed(|s, k| build(s, k, context).unwrap_err().to_string()), keys(known), "{name}");
        }
    }

    #[test]
    fn every_signal_takes_the_common_keys() {
        let common = [
            ("name", json!("a")),
            ("shape", json!("sine")),
            ("type", json!("f32")),
            ("decimals", json!(2)),
            ("copies", json!(3)),
        ];
        assert_eq!(common.each_ref().map(|(key, _)| *key), ShapeInfo::COMMON.map(|s| s.key));
        assert_eq!(error("sine", &common), None);
    }

    #[test]
    fn the_types_in_the_help_are_those_that_the_parser_takes() {
        for shape in shapes() {
            for key in shape.keys.iter().map(|s| s.key) {
                let (right, wrong, expected) = match ShapeInfo::type_of(key) {
                    "number" => (json!(0.5), json!("x"), "expected f64"),
                    "whole number" => (json!(3), json!(0.5), "expected u"),
                    "time" => (json!("2s"), json!("x"), "duration"),
                    "list of texts" => (json!(["a", "b"]), json!([1]), "expected a string"),
                    "list of whole numbers" => (json!([3]), json!([0.5]), "expected u32"),
                    "list of numbers" => (json!([0.5]), json!(["x"]), "expected f64"),
                    other => panic!("{key}: {other}"),
                };
                let said = error(shape.name, &[(key, wrong)]).unwrap();
                assert!(said.contains(key) && said.contains(expected), "{}.{key}: {said}", shape.name);
                // What it says else is of other keys that must go with it.
                let said = error(shape.name, &[(key, right)]).unwrap_or_default();
                assert!(!said.contains("invalid type") && !said.contains("duration"), "{}.{key}: {said}", shape.name);
            }
        }
    }

    #[test]
    fn the_defaults_in_the_help_are_those_that_the_parser_has() {
        let config = |shape: &ShapeInfo, keys: &[(&str, Value)]| {
            let mut signal = Map::from_iter([("name".into(), json!("x")), ("shape".into(), json!(shape.name))]);
            // A state has no default: either states or their number.
            signal.extend((shape.name == "state").then(|| ("cardinality".into(), json!(3))));
            signal.extend(keys.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
            let config = DatasetConfig::named("custom").unwrap().with("signals", json!([signal]));
            format!("{:?}", config.open(1, DEFAULT_ORIGIN_NS, 1, Path::new(".")).unwrap())
        };
        for shape in shapes() {
            for key in shape.keys.iter().filter(|s| !s.default.is_empty() && s.key != "cardinality") {
                let default = serde_json::from_str(key.default).unwrap_or_else(|_| json!(key.default));
                assert_eq!(config(&shape, &[(key.key, default)]), config(&shape, &[]), "{}.{}", shape.name, key.key);
            }
        }
    }
}
