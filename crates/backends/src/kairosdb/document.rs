//! An answer to a question: for each metric that was asked about, its groups with their values.

use iotbench_backend_kit::metrics::Datapoint;
use serde::Deserialize;
use std::collections::BTreeMap;

/// `{"queries":[…]}`: one for each metric asked about, in that order.
#[derive(Debug, Deserialize)]
pub(crate) struct Document<'a> {
    #[serde(borrow)]
    pub(crate) queries: Vec<Metric<'a>>,
}

/// What was found of one metric.
#[derive(Debug, Deserialize)]
pub(crate) struct Metric<'a> {
    #[serde(borrow)]
    pub(crate) results: Vec<Group<'a>>,
}

/// The values of those series that have the same tags, as far as was asked for.
#[derive(Debug, Deserialize)]
pub(crate) struct Group<'a> {
    #[serde(default)]
    pub(crate) tags: BTreeMap<String, Vec<String>>,
    #[serde(borrow, default)]
    pub(crate) values: Vec<Datapoint<'a>>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_backend_kit::metrics::Cell;

    #[test]
    fn an_answer_is_read_as_the_server_writes_it() {
        let text = r#"{"queries":[{"sample_size":3,"results":[{"name":"m","group_by":[{"name":"tag","tags":["device"],
            "group":{"device":"7"}},{"name":"type","type":"number"}],"tags":{"device":["7"]},
            "values":[[-5,-0],[1,4.9E-324],[2,9223372036854775807]]}]},
            {"sample_size":1,"results":[{"name":"t","tags":{},"values":[[3,"a\"ü"]]}]},
            {"sample_size":0,"results":[{"name":"nope","tags":{},"values":[]}]}]}"#;
        let document: Document<'_> = serde_json::from_str(text).unwrap();
        let [numbers, texts, nothing] = &document.queries[..] else { panic!("{document:?}") };
        let group = &numbers.results[0];
        assert_eq!(group.tags["device"], ["7"]);
        assert!(matches!(group.values[0], Datapoint { ms: -5, cell: Cell::Float(v) } if v.is_sign_negative()));
        assert_eq!(group.values[1].cell, Cell::Float(5e-324));
        assert_eq!(group.values[2].cell, Cell::Integer(i64::MAX));
        assert_eq!(texts.results[0].values, [Datapoint { ms: 3, cell: Cell::Text("a\"ü".into()) }]);
        assert!(nothing.results[0].values.is_empty());
        for bad in [
            "{}",
            r#"{"queries":[{"results":[{"values":[[1]]}]}]}"#,
            r#"{"queries":[{"results":[{"values":[[1,null]]}]}]}"#,
        ] {
            assert!(serde_json::from_str::<Document<'_>>(bad).is_err(), "{bad}");
        }
    }
}
