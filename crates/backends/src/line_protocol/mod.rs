//! The line protocol of InfluxDB, which other servers take as well: `measurement,tag=value field=value time`.
//!
//! A batch becomes lines in one buffer that is kept; nothing is allocated per datapoint once it has its size.

mod gzip;
mod lines;
mod names;
mod narrow;
mod times;
mod wide;

pub(crate) use gzip::Gzip;
pub(crate) use lines::Lines;
pub(crate) use names::{DEVICE, SIGNAL, VALUE, device_digits};
pub(crate) use times::TimeRule;

use crate::refuse::refuse;
use iotbench_core::{Batch, Cause, Error, Layout, TableSpec};
use narrow::NarrowLines;
use std::sync::Arc;
use wide::WideLines;

/// How one layout encodes a batch. Nothing is allocated per datapoint once the buffers have their size.
trait Encode: Send {
    /// Appends the lines of a batch.
    fn encode(&mut self, batch: &Batch, times: TimeRule, lines: &mut Lines);
}

/// The lines of one batch after the other.
pub(crate) struct Encoder {
    product: &'static str,
    table: Arc<TableSpec>,
    times: TimeRule,
    layout: Box<dyn Encode>,
    pub(crate) lines: Lines,
}

impl Encoder {
    /// An encoder of a table's layout for a server of this name, which stores such times.
    ///
    /// # Errors
    /// Client for a layout that has no lines.
    pub(crate) fn new(product: &'static str, table: Arc<TableSpec>, times: TimeRule) -> Result<Self, Error> {
        let layout: Box<dyn Encode> = match table.layout {
            Layout::Wide => Box::new(WideLines::new(Arc::clone(&table))),
            Layout::Narrow => Box::new(NarrowLines::new(Arc::clone(&table))),
            other => return Err(Error::new(Cause::Client, format!("{product} has no layout {other}"))),
        };
        Ok(Self { product, table, times, layout, lines: Lines::default() })
    }

    /// Encodes a batch in the place of the one before.
    ///
    /// # Errors
    /// Data with nothing applied, for what cannot be stored.
    pub(crate) fn encode(&mut self, batch: &Batch) -> Result<&mut Lines, Error> {
        refuse(batch, &self.table)?;
        self.times.check(self.product, batch)?;
        self.lines.clear();
        self.layout.encode(batch, self.times, &mut self.lines);
        Ok(&mut self.lines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::{Applied, Marker, Name, Run, Schema, Signal, TimeUnit, Value, ValueType};

    const ALL_NS: TimeRule =
        TimeRule { unit: TimeUnit::Ns, earliest_ns: i64::MIN + 2, latest_ns: i64::MAX - 1, rounds_down: false };
    const MS: TimeRule = TimeRule { unit: TimeUnit::Ms, earliest_ns: 0, latest_ns: i64::MAX, rounds_down: false };

    fn table(layout: Layout, devices: u32) -> Arc<TableSpec> {
        let signal = |name: &str, value_type| Signal { name: name.into(), value_type, max_text_bytes: 9 };
        let signals = match layout {
            Layout::Narrow => vec![signal("a", ValueType::U16), signal("b", ValueType::U16)],
            _ => vec![signal("a", ValueType::F64), signal("b", ValueType::I64), signal("c", ValueType::Text)],
        };
        Arc::new(TableSpec {
            name: Name::new("t").unwrap(),
            layout,
            schema: Schema::new(signals).unwrap(),
            devices,
            marker: Marker { run_id: "r".into(), fingerprint: "f".into() },
        })
    }

    fn batch(table: &TableSpec, points: &[(u32, i64)]) -> Batch {
        let mut batch = Batch::new(&table.schema);
        for &(device, time) in points {
            batch.append(Run { device, first: time.unsigned_abs(), count: 1 }, |times, columns| {
                times.push(time);
                for column in columns {
                    let value = match column.value_type() {
                        ValueType::F64 => Value::F64(0.5),
                        ValueType::I64 => Value::I64(-1),
                        ValueType::U16 => Value::U16(7),
                        _ => Value::Text("x\ny"),
                    };
                    assert!(column.push(value));
                }
            });
        }
        batch
    }

    fn encoded(layout: Layout, devices: u32, points: &[(u32, i64)]) -> (String, usize) {
        let table = table(layout, devices);
        let mut encoder = Encoder::new("InfluxDB", Arc::clone(&table), ALL_NS).unwrap();
        let lines = encoder.encode(&batch(&table, points)).unwrap();
        (String::from_utf8(lines.bytes.clone()).unwrap(), lines.ends.len())
    }

    #[test]
    fn each_layout_has_its_lines() {
        let (text, lines) = encoded(Layout::Wide, 1, &[(0, 5), (0, -6)]);
        assert_eq!((text.as_str(), lines), ("t a=0.5,b=-1i,c=\"x\ny\" 5\nt a=0.5,b=-1i,c=\"x\ny\" -6\n", 2));
        let (text, lines) = encoded(Layout::Wide, 11, &[(7, 5)]);
        assert_eq!((text.as_str(), lines), ("t,device=07 a=0.5,b=-1i,c=\"x\ny\" 5\n", 1));
        let (text, lines) = encoded(Layout::Narrow, 1, &[(0, 5)]);
        assert_eq!((text.as_str(), lines), ("t,signal=a v=7i 5\nt,signal=b v=7i 5\n", 2));
        let (text, _) = encoded(Layout::Narrow, 2, &[(1, 5)]);
        assert_eq!(text, "t,device=1,signal=a v=7i 5\nt,device=1,signal=b v=7i 5\n");
    }

    #[test]
    fn a_time_beyond_what_is_stored_is_refused() {
        let table = table(Layout::Wide, 1);
        let mut encoder = Encoder::new("InfluxDB", Arc::clone(&table), ALL_NS).unwrap();
        for time in [i64::MIN, i64::MIN + 1, i64::MAX] {
            let error = encoder.encode(&batch(&table, &[(0, 1), (0, time)])).err().unwrap();
            assert_eq!((error.cause, error.applied), (Cause::Data, Applied::No), "{time}");
        }
    }

    #[test]
    fn a_time_between_two_units_is_refused_or_rounded_as_asked() {
        let table = table(Layout::Narrow, 1);
        let between = batch(&table, &[(0, 7_000_000), (0, 8_999_999)]);
        let mut strict = Encoder::new("x", Arc::clone(&table), MS).unwrap();
        let error = strict.encode(&between).err().unwrap();
        assert!(error.cause == Cause::Data && error.message.contains("8999999"), "{error}");
        let mut rounding = Encoder::new("x", Arc::clone(&table), TimeRule { rounds_down: true, ..MS }).unwrap();
        let lines = rounding.encode(&between).unwrap();
        let text = std::str::from_utf8(&lines.bytes).unwrap();
        assert!(text.starts_with("t,signal=a v=7i 7\n") && text.ends_with("t,signal=b v=7i 8\n"), "{text}");
    }

    #[test]
    fn a_warm_encoder_allocates_nothing() {
        for layout in [Layout::Wide, Layout::Narrow] {
            let table = table(layout, 3);
            let batch = batch(&table, &(0..1000).map(|i| (u32::from(i >= 500), i)).collect::<Vec<_>>());
            let mut encoder = Encoder::new("InfluxDB", Arc::clone(&table), ALL_NS).unwrap();
            encoder.encode(&batch).unwrap();
            let allocated = allocation_counter::measure(|| {
                encoder.encode(&batch).unwrap();
            });
            assert_eq!(allocated.count_total, 0, "{layout}");
        }
    }
}
