//! Counts what is stored.

use super::points::device_of;
use crate::kairosdb::{
    client::Client,
    document::Document,
    error::improper,
    question::{ALL, Asked, question},
};
use iotbench_backend_kit::metrics::{self, Cell};
use iotbench_core::{Counts, Error, TableSpec};

/// Datapoints and values of the first `signals` signals, and the bytes of the answer. The server counts values.
pub(crate) async fn count(client: &mut Client, table: &TableSpec, signals: usize) -> Result<(Counts, u64), Error> {
    let asked: Vec<_> = (0..).take(signals).map(|s| Asked::new(table, s).figure("count")).collect();
    client.ask(question(ALL, &asked), counts).await
}

fn counts(document: &Document<'_>) -> Result<Counts, Error> {
    let mut series = Vec::new();
    for (signal, metric) in document.queries.iter().enumerate() {
        for group in metric.results.iter().filter(|group| !group.values.is_empty()) {
            for value in &group.values {
                let Cell::Integer(count @ 0..) = value.cell else {
                    return Err(improper(format!("{:?} stands where a count should", value.cell)));
                };
                series.push((signal, device_of(group)?, count.unsigned_abs()));
            }
        }
    }
    Ok(metrics::counts(series))
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
