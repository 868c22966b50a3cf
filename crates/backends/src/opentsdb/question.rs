//! Questions in the server's JSON. Pure.

use iotbench_backend_kit::metrics::{DEVICE, Millis, metric, name_of};
use iotbench_core::{Aggregate, Error, SignalId, TableSpec};
use serde_json::{Value, json};

/// All times that we write: from 1971, because the server takes less than 2³² for seconds, to the end of 2099.
pub(crate) const ALL: Millis = Millis { first: 31_536_000_000, last: 4_102_444_799_999 };
/// The server keeps the values of an hour together, and reads them together.
pub(crate) const HOUR_MS: i64 = 3_600_000;
/// The longest list of devices that is sent; beyond it all are asked about, and those that are not wanted left out here.
const MAX_LISTED: usize = 4096;

/// What is asked about one metric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    metric: String,
    /// A stretch and a figure over it.
    figure: Option<String>,
}

impl Asked {
    /// All values.
    pub(crate) fn raw(metric: String) -> Self {
        Self { metric, figure: None }
    }

    /// All values of a signal.
    pub(crate) fn of(table: &TableSpec, signal: SignalId) -> Self {
        Self::raw(metric(table, signal))
    }

    /// One figure of each series.
    pub(crate) fn figure(self, aggregate: Aggregate) -> Result<Self, Error> {
        Ok(Self { figure: Some(format!("0all-{}", name_of(aggregate)?)), ..self })
    }

    /// The number of values of each series.
    pub(crate) fn count(self) -> Self {
        Self { figure: Some("0all-count".into()), ..self }
    }

    /// The number of values of each series, hour by hour.
    pub(crate) fn count_by_hour(self) -> Self {
        Self { figure: Some("1h-count".into()), ..self }
    }

    pub(crate) fn is_raw(&self) -> bool {
        self.figure.is_none()
    }

    fn json(&self, devices: Option<&[u32]>) -> Value {
        // Without an aggregator each series is answered apart.
        let mut json = json!({ "aggregator": "none", "metric": self.metric });
        if let Some(figure) = &self.figure {
            json["downsample"] = json!(figure);
        }
        if let Some(list) = devices
            && list.len() <= MAX_LISTED
        {
            let list = list.iter().map(ToString::to_string).collect::<Vec<_>>().join("|");
            json["filters"] = json!([{ "type": "literal_or", "tagk": DEVICE, "filter": list, "groupBy": false }]);
        }
        json
    }
}

/// The question about several metrics over one stretch of time.
pub(crate) fn question(span: Millis, devices: Option<&[u32]>, asked: &[Asked]) -> String {
    let queries: Vec<_> = asked.iter().map(|asked| asked.json(devices)).collect();
    json!({
        "start": span.first.to_string(),
        // Within for values, without for figures of everything; and a question needs some time.
        "end": (span.last + 1).to_string(),
        "msResolution": true,
        "noAnnotations": true,
        // It names the place of what a series answers.
        "showQuery": true,
        "queries": queries,
    })
    .to_string()
}

/// The address, without what stands before each, that deletes all values of a metric of ours. Its answer is short.
pub(crate) fn deletion(metric: &str) -> String {
    format!("/api/query?arrays&start={}&end={}&m=none:0all-count:{metric}", ALL.first, ALL.last + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_says_all_that_was_asked() {
        let asked = [Asked::raw("a".into()), Asked::raw("b".into()).figure(Aggregate::Mean).unwrap()];
        let text = question(Millis { first: 50_000_000_000, last: 50_000_000_000 }, Some(&[0, 2]), &asked);
        let filters = json!([{"type": "literal_or", "tagk": "device", "filter": "0|2", "groupBy": false}]);
        let expected = json!({
            "start": "50000000000", "end": "50000000001",
            "msResolution": true, "noAnnotations": true, "showQuery": true,
            "queries": [
                {"aggregator": "none", "metric": "a", "filters": filters},
                {"aggregator": "none", "metric": "b", "downsample": "0all-avg", "filters": filters},
            ],
        });
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), expected);
        let many: Vec<u32> = (0..5000).collect();
        let all = question(ALL, Some(&many), &asked[..1]);
        assert!(!all.contains("filters"), "{all}");
    }

    #[test]
    fn no_time_of_ours_is_taken_for_seconds() {
        assert!(ALL.first > 1 << 32 && ALL.first.to_string().len() > 10);
        // The end of the hour after the last one, in seconds, has 32 bits.
        assert!(u32::try_from((ALL.last + 2 * HOUR_MS) / 1000).is_ok());
        assert_eq!(ALL.first % HOUR_MS, 0);
    }
}
