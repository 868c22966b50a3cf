//! Datapoints as they are stored: a row each in layout wide, a row a value in layout narrow.

use super::decode::{device, device_of, time};
use crate::influxdb::{
    chunk::Series,
    client::Client,
    influxql::{Select, Span, field, quoted, signal_name, signals_condition},
};
use iotbench_backend_kit::cell::Cell;
use iotbench_backend_kit::line_protocol::{DEVICE, SIGNAL, VALUE};
use iotbench_core::{Cause, Error, Layout, SignalId, TableSpec};
use std::collections::{BTreeMap, HashMap};

/// In which order datapoints come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// By device, then time.
    ByDevice,
    /// The latest first, of all devices together.
    LatestFirst,
}

/// Which datapoints are wanted.
#[derive(Clone, Debug)]
pub(crate) struct Wanted<'a> {
    /// The signals whose values are wanted, ascending.
    pub(crate) signals: &'a [SignalId],
    /// A condition on the devices; empty for all.
    pub(crate) devices: &'a str,
    pub(crate) span: Span,
    pub(crate) order: Order,
    /// At most so many, of one device; a few more may come, and none for 0 is the caller's.
    pub(crate) most_points: Option<u64>,
}

/// Takes a datapoint: its device, its time, and a cell for each signal.
pub(crate) type Take<'t> = dyn FnMut(u32, i64, &[Cell<'_>]) -> Result<(), Error> + Send + 't;

/// Gives every datapoint that is wanted to `take`; returns the bytes of the answer.
pub(crate) async fn stream(
    client: &mut Client,
    table: &TableSpec,
    wanted: &Wanted<'_>,
    take: &mut Take<'_>,
) -> Result<u64, Error> {
    let statement = statement(table, wanted);
    if table.layout == Layout::Narrow {
        let mut gather = Gather::new(table, wanted);
        let bytes = client.ask(&statement, |series| gather.series(series, take)).await?;
        gather.flush(take)?;
        return Ok(bytes);
    }
    let width = wanted.signals.len();
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
    let mut columns: Vec<String> = match table.layout {
        Layout::Narrow => vec![quoted(VALUE), quoted(SIGNAL)],
        _ => wanted.signals.iter().map(|&signal| field(table, signal)).collect(),
    };
    let has_device = table.has_device_column();
    if has_device && wanted.order == Order::LatestFirst {
        columns.push(quoted(DEVICE));
    }
    let select = Select::new(&columns.join(", "), table)
        .filter(wanted.devices)
        .filter(&signals_condition(table, wanted.signals))
        .during(wanted.span);
    let select = match wanted.order {
        Order::ByDevice if has_device => select.group_by(&[DEVICE]),
        Order::ByDevice => select,
        Order::LatestFirst => select.latest_first(),
    };
    let select = match wanted.most_points {
        Some(points) => select.limit(rows_of(table, wanted.signals, points)),
        None => select,
    };
    select.into_text()
}

/// How many rows hold so many datapoints that lack no value.
pub(crate) fn rows_of(table: &TableSpec, signals: &[SignalId], points: u64) -> u64 {
    let rows = if table.layout == Layout::Narrow { signals.len() as u64 } else { 1 };
    points.saturating_mul(rows)
}

/// Puts the values of one time together, device by device.
struct Gather<'a> {
    places: HashMap<&'a str, usize>,
    width: usize,
    is_grouped: bool,
    time: i64,
    points: BTreeMap<u32, Vec<Cell<'static>>>,
    /// Rows that were handed over, to be filled again.
    spare: Vec<Vec<Cell<'static>>>,
}

impl<'a> Gather<'a> {
    fn new(table: &'a TableSpec, wanted: &Wanted<'_>) -> Self {
        let names = wanted.signals.iter().map(|&signal| signal_name(table, signal));
        Self {
            places: names.zip(0..).collect(),
            width: wanted.signals.len(),
            is_grouped: wanted.order == Order::ByDevice,
            time: 0,
            points: BTreeMap::new(),
            spare: Vec::new(),
        }
    }

    /// Takes rows of time, value, signal and, without groups, device.
    fn series(&mut self, series: &Series<'_>, take: &mut Take<'_>) -> Result<(), Error> {
        let of_series = device_of(series)?;
        for row in series.rows() {
            let [_, value, signal, rest @ ..] = row else { return Err(too_narrow()) };
            let device = rest.first().map_or(Ok(of_series), device_cell)?;
            let time = time(row)?;
            if time != self.time || self.is_grouped && !self.points.contains_key(&device) {
                self.flush(take)?;
                self.time = time;
            }
            let (width, spare) = (self.width, &mut self.spare);
            let empty = || {
                let mut cells = spare.pop().unwrap_or_default();
                cells.clear();
                cells.resize(width, Cell::Null);
                cells
            };
            let cells = self.points.entry(device).or_insert_with(empty);
            if let Some(&place) = self.places.get(signal.text().unwrap_or_default()) {
                cells[place] = value.clone().into_owned();
            }
        }
        Ok(())
    }

    /// Hands over what is there of the present time.
    fn flush(&mut self, take: &mut Take<'_>) -> Result<(), Error> {
        while let Some((device, cells)) = self.points.pop_first() {
            take(device, self.time, &cells)?;
            self.spare.push(cells);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::influxdb::chunk::Document;
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

    fn wanted<'a>(signals: &'a [SignalId], order: Order, most_points: Option<u64>) -> Wanted<'a> {
        Wanted { signals, devices: "", span: Span::ALL, order, most_points }
    }

    #[test]
    fn each_layout_has_its_question() {
        for (layout, devices, wanted, text) in [
            (
                Layout::Wide,
                2,
                wanted(&[0, 1], Order::ByDevice, None),
                "SELECT \"a\", \"b\" FROM \"t\" GROUP BY \"device\"",
            ),
            (Layout::Wide, 1, wanted(&[1], Order::ByDevice, Some(3)), "SELECT \"b\" FROM \"t\" LIMIT 3"),
            (
                Layout::Wide,
                2,
                wanted(&[0], Order::LatestFirst, Some(3)),
                "SELECT \"a\", \"device\" FROM \"t\" ORDER BY time DESC LIMIT 3",
            ),
            (
                Layout::Narrow,
                2,
                wanted(&[1], Order::ByDevice, None),
                "SELECT \"v\", \"signal\" FROM \"t\" WHERE (\"signal\" = 'b') GROUP BY \"device\"",
            ),
            (
                Layout::Narrow,
                1,
                wanted(&[0, 1], Order::ByDevice, Some(3)),
                "SELECT \"v\", \"signal\" FROM \"t\" LIMIT 6",
            ),
        ] {
            assert_eq!(statement(&table(layout, devices), &wanted), text);
        }
    }

    #[test]
    fn values_of_one_time_become_one_datapoint_of_each_device() {
        let text = r#"{"results":[{"series":[{"columns":["time","v","signal","device"],"values":
            [[2,1,"b","1"],[2,2,"a","0"],[2,3,"a","1"],[2,9,"alien","0"],[1,4,"a","0"]]}]}]}"#;
        let document: Document<'_> = serde_json::from_str(text).unwrap();
        let table = table(Layout::Narrow, 2);
        let mut gather = Gather::new(&table, &wanted(&[0, 1], Order::LatestFirst, None));
        let mut points = Vec::new();
        let mut take = |device: u32, time: i64, cells: &[Cell<'_>]| {
            points.push((device, time, cells.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")));
            Ok(())
        };
        gather.series(&document.results.as_ref().unwrap()[0].series[0], &mut take).unwrap();
        gather.flush(&mut take).unwrap();
        let expected = [(0, 2, "2,"), (1, 2, "3,1"), (0, 1, "4,")].map(|(d, t, c)| (d, t, c.to_owned()));
        assert_eq!(points, expected);
    }
}
