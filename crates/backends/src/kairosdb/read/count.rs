//! Counts what is stored.

use super::points::device_of;
use crate::kairosdb::{
    client::Client,
    document::{Cell, Document},
    error::improper,
    question::{Asked, Span, question},
};
use iotbench_core::{Counts, Error, TableSpec};
use std::collections::BTreeMap;

/// Datapoints and values, and the bytes of the answer. The server counts values, so a device has as many datapoints as its
/// fullest signal has values: one that lost a value shows, one that lost all is gone.
pub(crate) async fn count(client: &mut Client, table: &TableSpec) -> Result<(Counts, u64), Error> {
    let asked: Vec<_> = (0..).take(table.schema.width()).map(|s| Asked::new(table, s).figure("count")).collect();
    client.ask(question(Span::ALL, &asked), counts).await
}

fn counts(document: &Document<'_>) -> Result<Counts, Error> {
    let mut points_of: BTreeMap<u32, u64> = BTreeMap::new();
    let mut values = 0;
    for metric in &document.queries {
        let mut of_metric: BTreeMap<u32, u64> = BTreeMap::new();
        for group in metric.results.iter().filter(|group| !group.values.is_empty()) {
            for value in &group.values {
                let Cell::Integer(count @ 0..) = value.cell else {
                    return Err(improper(format!("{:?} stands where a count should", value.cell)));
                };
                *of_metric.entry(device_of(group)?).or_default() += count.unsigned_abs();
            }
        }
        values += of_metric.values().sum::<u64>();
        for (device, count) in of_metric {
            let points = points_of.entry(device).or_default();
            *points = count.max(*points);
        }
    }
    Ok(Counts { points: points_of.values().sum(), values })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_value_shows() {
        let text = r#"{"queries":[
            {"results":[{"tags":{"device":["0"]},"values":[[0,5]]},{"tags":{"device":["1"]},"values":[[0,2]]}]},
            {"results":[{"tags":{"device":["0"]},"values":[[0,4]]},{"tags":{"device":["1"]},"values":[[0,2]]}]}]}"#;
        let document = serde_json::from_str(text).unwrap();
        assert_eq!(counts(&document).unwrap(), Counts { points: 7, values: 13 });
        let bad = r#"{"queries":[{"results":[{"tags":{"device":["0"]},"values":[[0,-1]]}]}]}"#;
        assert!(counts(&serde_json::from_str(bad).unwrap()).is_err());
    }
}
