//! Puts exported series together: the values of one device and time become one datapoint.

use crate::victoriametrics::{
    client::{Client, Samples, improper},
    series::{Own, signal_of},
};
use iotbench_backend_kit::{
    ask::Ask,
    line_protocol::{DEVICE, SIGNAL},
    millis::Millis,
};
use iotbench_core::{Error, TableSpec};
use std::{collections::BTreeMap, ops::ControlFlow};

/// The most values that are held at once: 16 MiB.
const MAX_VALUES: usize = 1 << 20;

/// The samples of one signal of one device, in the order of their times.
#[derive(Clone, Debug, Default)]
struct Signal {
    times_ms: Vec<i64>,
    values: Vec<f64>,
}

/// Datapoints of some devices in a stretch of time.
#[derive(Debug)]
pub(crate) struct Gathered {
    /// A column a signal that was asked for.
    devices: BTreeMap<u32, Vec<Signal>>,
    values: usize,
    pub(crate) bytes: u64,
    /// Whether there were more than [`MAX_VALUES`], and these are only some of them.
    pub(crate) is_cut: bool,
}

/// Everything of these devices and signals in a stretch of time, as far as it can be held.
pub(crate) async fn gather(
    client: &mut Client,
    own: &Own,
    table: &TableSpec,
    ask: &Ask<'_>,
    span: Millis,
) -> Result<Gathered, Error> {
    let mut gathered = Gathered { devices: BTreeMap::new(), values: 0, bytes: 0, is_cut: false };
    let Some(selector) = own.of(table, ask.devices, ask.signals) else { return Ok(gathered) };
    let take = |samples: Samples<'_>| {
        gathered.take(table, ask, span, &samples)?;
        Ok(if gathered.values > MAX_VALUES { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    };
    let (bytes, is_whole) = client.export(&selector, span, take).await?;
    (gathered.bytes, gathered.is_cut) = (bytes, !is_whole);
    Ok(gathered)
}

impl Gathered {
    fn take(&mut self, table: &TableSpec, ask: &Ask<'_>, span: Millis, samples: &Samples<'_>) -> Result<(), Error> {
        let label = |name: &str| samples.metric.get(name).map(AsRef::as_ref);
        let signal = signal_of(table, label("__name__").unwrap_or_default(), label(SIGNAL));
        let Some(place) = signal.and_then(|signal| ask.signals.iter().position(|&wanted| wanted == signal)) else {
            return Ok(());
        };
        let device = match label(DEVICE) {
            None => 0,
            Some(text) => text.parse().map_err(|_| improper(&format!("the label {DEVICE} is {text:?}")))?,
        };
        if !ask.devices.contains(device) {
            return Ok(());
        }
        let columns = self.devices.entry(device).or_insert_with(|| vec![Signal::default(); ask.signals.len()]);
        let column = &mut columns[place];
        for (&ms, value) in samples.times_ms.iter().zip(&samples.values) {
            if column.times_ms.last().is_some_and(|&last| ms < last) {
                return Err(improper(&"the samples of a series are not in the order of time"));
            }
            if let (Some(value), true) = (value, span.contains(ms)) {
                column.times_ms.push(ms);
                column.values.push(*value);
                self.values += 1;
            }
        }
        Ok(())
    }

    /// How many values there are.
    pub(crate) fn len(&self) -> usize {
        self.values
    }

    /// Gives every datapoint to `take`: its device, its time in milliseconds, and a value a signal. A time that a
    /// signal has twice is two datapoints.
    pub(crate) fn for_each(
        &self,
        mut take: impl FnMut(u32, i64, &[Option<f64>]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut row = Vec::new();
        for (&device, columns) in &self.devices {
            let mut places = vec![0; columns.len()];
            loop {
                let times = columns.iter().zip(&places).filter_map(|(column, &place)| column.times_ms.get(place));
                let Some(&ms) = times.min() else { break };
                row.clear();
                for (column, place) in columns.iter().zip(&mut places) {
                    let is_there = column.times_ms.get(*place) == Some(&ms);
                    row.push(is_there.then(|| column.values[*place]));
                    *place += usize::from(is_there);
                }
                take(device, ms, &row)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_backend_kit::{ask::Asked, span::Span};
    use iotbench_core::{Layout, Marker, Name, Schema, ValueType};

    fn table() -> TableSpec {
        let signal =
            |name: &str| iotbench_core::Signal { name: name.into(), value_type: ValueType::F64, max_text_bytes: 0 };
        TableSpec {
            name: Name::new("t").unwrap(),
            layout: Layout::Wide,
            schema: Schema::new(vec![signal("a"), signal("b")]).unwrap(),
            devices: 12,
            marker: Marker { run_id: "r".into(), fingerprint: "f".into() },
        }
    }

    fn gathered(lines: &[&str]) -> Result<Gathered, Error> {
        let mut gathered = Gathered { devices: BTreeMap::new(), values: 0, bytes: 0, is_cut: false };
        let ask = Ask::stretch(Asked::All, &[0, 1], Span::ALL);
        for line in lines {
            let samples = serde_json::from_str(line).unwrap();
            gathered.take(&table(), &ask, Millis { first: 1, last: 9 }, &samples)?;
        }
        Ok(gathered)
    }

    #[test]
    fn values_of_one_time_become_one_datapoint_of_each_device() {
        let gathered = gathered(&[
            r#"{"metric":{"__name__":"t_b","device":"10"},"values":[1],"timestamps":[5]}"#,
            r#"{"metric":{"__name__":"t_b","device":"02"},"values":[1,2,3],"timestamps":[5,5,7]}"#,
            r#"{"metric":{"__name__":"t_a","device":"02"},"values":[4,5,6],"timestamps":[5,6,10]}"#,
            r#"{"metric":{"__name__":"t_alien","device":"02"},"values":[4],"timestamps":[5]}"#,
        ])
        .unwrap();
        let mut rows = Vec::new();
        gathered
            .for_each(|device, ms, values| {
                rows.push((device, ms, values.to_vec()));
                Ok(())
            })
            .unwrap();
        let expected = [
            (2, 5, vec![Some(4.0), Some(1.0)]),
            (2, 5, vec![None, Some(2.0)]),
            (2, 6, vec![Some(5.0), None]),
            (2, 7, vec![None, Some(3.0)]),
            (10, 5, vec![None, Some(1.0)]),
        ];
        assert_eq!(rows, expected);
        assert_eq!(gathered.len(), 6);
    }

    #[test]
    fn an_export_out_of_order_is_refused() {
        assert!(gathered(&[r#"{"metric":{"__name__":"t_a"},"values":[1,2],"timestamps":[5,4]}"#]).is_err());
        assert!(gathered(&[r#"{"metric":{"__name__":"t_a","device":"x"},"values":[1],"timestamps":[5]}"#]).is_err());
    }
}
