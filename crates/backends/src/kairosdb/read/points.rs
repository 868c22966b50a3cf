//! The series of an answer. Each metric that was asked about is a signal.

use crate::kairosdb::{
    document::{Document, Group},
    error::improper,
};
use iotbench_backend_kit::metrics::{self, DEVICE, Series, Take, device_number};
use iotbench_core::Error;

/// Gives the datapoints of an answer, by device and time, to `take`.
pub(crate) fn points(document: &Document<'_>, take: &mut Take<'_>) -> Result<(), Error> {
    let mut series = Vec::new();
    for (place, metric) in document.queries.iter().enumerate() {
        // A metric that is not there is answered with a group of nothing.
        for group in metric.results.iter().filter(|group| !group.values.is_empty()) {
            series.push(Series { place, device: device_of(group)?, values: &group.values });
        }
    }
    metrics::points(document.queries.len(), series, take)
}

/// The device that a group is of.
pub(crate) fn device_of(group: &Group<'_>) -> Result<u32, Error> {
    match group.tags.get(DEVICE).map(Vec::as_slice) {
        Some([device]) => device_number(device),
        other => Err(improper(format!("a series has the devices {other:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_of_no_device_is_none_of_ours() {
        for alien in [r#"{"device":["x"]}"#, r#"{"device":["1","2"]}"#, "{}"] {
            let text = format!(r#"{{"queries":[{{"results":[{{"tags":{alien},"values":[[1,1]]}}]}}]}}"#);
            assert!(points(&serde_json::from_str(&text).unwrap(), &mut |_, _, _| Ok(())).is_err(), "{alien}");
        }
    }
}
