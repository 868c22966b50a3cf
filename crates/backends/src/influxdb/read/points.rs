//! Datapoints as they are stored: a row each in layout wide, a row a value in layout narrow.

use super::decode::{device, device_of, time};
use crate::influxdb::{
    chunk::Series,
    client::Client,
    influxql::{Select, condition, field, quoted, signal_name, signals_condition},
};
use iotbench_backend_kit::{
    ask::{Ask, Order},
    cell::Cell,
    gather::{Gather, Take},
    line_protocol::{DEVICE, SIGNAL, VALUE},
};
use iotbench_core::{Cause, Error, Layout, SignalId, TableSpec};

/// Which datapoints are wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'a> {
    pub(crate) ask: Ask<'a>,
    /// A condition on the devices; empty for all.
    pub(crate) devices: &'a str,
}

/// Gives every datapoint that is wanted, and in layout narrow a few more than the limit, to `take`; returns the bytes of the
/// answer.
pub(crate) async fn stream(
    client: &mut Client,
    table: &TableSpec,
    wanted: &Wanted<'_>,
    take: &mut Take<'_>,
) -> Result<u64, Error> {
    let statement = statement(table, wanted);
    if table.layout == Layout::Narrow {
        let Ask { signals, order, .. } = wanted.ask;
        let names = signals.iter().map(|&signal| signal_name(table, signal));
        let mut gather = Gather::new(names, order != Order::Newest);
        let bytes = client.ask(&statement, |series| take_values(series, &mut gather, take)).await?;
        gather.flush(take)?;
        return Ok(bytes);
    }
    let width = wanted.ask.signals.len();
    client
        .ask(&statement, |series| {
            let of_series = device_of(series)?;
            for row in series.rows() {
                let device = row.get(1 + width).map_or(Ok(of_series), device_cell)?;
                take(device, time(row)?, row.get(1..=width).ok_or_else(too_narrow)?)?;
            }
            Ok(())
        })
        .await
}

fn device_cell(cell: &Cell<'_>) -> Result<u32, Error> {
    device(cell.text().unwrap_or_default())
}

fn too_narrow() -> Error {
    Error::new(Cause::Protocol, "an answer has fewer columns than were asked for")
}

/// The question. Without groups the device is the last column.
fn statement(table: &TableSpec, wanted: &Wanted<'_>) -> String {
    let Ask { signals, span, order, limit, .. } = wanted.ask;
    let (is_latest_first, has_device) = (order == Order::Newest, table.has_device_column());
    let mut columns: Vec<String> = match table.layout {
        Layout::Narrow => vec![quoted(VALUE), quoted(SIGNAL)],
        _ => signals.iter().map(|&signal| field(table, signal)).collect(),
    };
    if has_device && is_latest_first {
        columns.push(quoted(DEVICE));
    }
    let select = Select::new(&columns.join(", "), table)
        .filter(wanted.devices)
        .filter(&signals_condition(table, signals))
        .filter(&wanted.ask.predicate.map_or(String::new(), |holds| condition(&field(table, wanted.ask.signal), holds)))
        .during(span);
    let select = match is_latest_first {
        true => select.latest_first(),
        false if has_device => select.group_by(&[DEVICE], None),
        false => select,
    };
    select.limit(rows_of(table, signals, limit)).into_text()
}

/// How many rows hold so many datapoints that lack no value.
pub(crate) fn rows_of(table: &TableSpec, signals: &[SignalId], points: u64) -> u64 {
    let rows = if table.layout == Layout::Narrow { signals.len() as u64 } else { 1 };
    points.saturating_mul(rows)
}

/// Takes rows of time, value, signal and, without groups, device.
fn take_values(series: &Series<'_>, gather: &mut Gather<'_>, take: &mut Take<'_>) -> Result<(), Error> {
    let of_series = device_of(series)?;
    for row in series.rows() {
        let [_, value, signal, rest @ ..] = row else { return Err(too_narrow()) };
        let device = rest.first().map_or(Ok(of_series), device_cell)?;
        gather.push((device, time(row)?, signal.text().unwrap_or_default()), value, take)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::influxdb::{chunk::Document, influxql::ALL};
    use iotbench_backend_kit::ask::Asked;
    use iotbench_core::{Marker, Name, Schema, Signal, ValueType};

    fn table(layout: Layout, devices: u32) -> TableSpec {
        let signal = |name: &str| Signal { name: name.into(), value_type: ValueType::U16, max_text_bytes: 0 };
        TableSpec {
            name: Name::new("t").unwrap(),
            layout,
            schema: Schema::new(vec![signal("a"), signal("b")]).unwrap(),
            devices,
            marker: Marker { run_id: "r".into(), fingerprint: "f".into() },
        }
    }

    fn wanted(signals: &[SignalId], order: Order, limit: u64) -> Wanted<'_> {
        Wanted { ask: Ask::stretch(Asked::All, signals, ALL).first(limit, order), devices: "" }
    }

    #[test]
    fn each_layout_has_its_question() {
        for (layout, devices, wanted, text) in [
            (
                Layout::Wide,
                2,
                wanted(&[0, 1], Order::Stretch, u64::MAX),
                "SELECT \"a\", \"b\" FROM \"t\" GROUP BY \"device\"",
            ),
            (Layout::Wide, 1, wanted(&[1], Order::Oldest, 3), "SELECT \"b\" FROM \"t\" LIMIT 3"),
            (
                Layout::Wide,
                2,
                wanted(&[0], Order::Newest, 3),
                "SELECT \"a\", \"device\" FROM \"t\" ORDER BY time DESC LIMIT 3",
            ),
            (
                Layout::Narrow,
                2,
                wanted(&[1], Order::Stretch, u64::MAX),
                "SELECT \"v\", \"signal\" FROM \"t\" WHERE (\"signal\" = 'b') GROUP BY \"device\"",
            ),
            (Layout::Narrow, 1, wanted(&[0, 1], Order::Oldest, 3), "SELECT \"v\", \"signal\" FROM \"t\" LIMIT 6"),
        ] {
            assert_eq!(statement(&table(layout, devices), &wanted), text);
        }
    }

    #[test]
    fn values_of_one_time_become_one_datapoint_of_each_device() {
        let text = r#"{"results":[{"series":[{"columns":["time","v","signal","device"],"values":
            [[2,1,"b","1"],[2,2,"a","0"],[2,3,"a","1"],[2,9,"alien","0"],[1,4,"a","0"]]}]}]}"#;
        let document: Document<'_> = serde_json::from_str(text).unwrap();
        let mut gather = Gather::new(["a", "b"], false);
        let mut points = Vec::new();
        let mut take = |device: u32, time: i64, cells: &[Cell<'_>]| {
            points.push((device, time, cells.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")));
            Ok(())
        };
        take_values(&document.results.as_ref().unwrap()[0].series[0], &mut gather, &mut take).unwrap();
        gather.flush(&mut take).unwrap();
        let expected = [(0, 2, "2,"), (1, 2, "3,1"), (0, 1, "4,")].map(|(d, t, c)| (d, t, c.to_owned()));
        assert_eq!(points, expected);
    }
}
