//! The line protocol of InfluxDB, which other servers take as well: `measurement,tag=value field=value time`.
//!
//! A batch becomes lines in one buffer that is kept; nothing is allocated per datapoint once it has its size.

mod lines;
mod names;
mod narrow;
mod times;
mod wide;

pub use lines::Lines;
pub use names::{DEVICE, SIGNAL, VALUE, device_digits};
pub use times::TimeRule;

use crate::{http::writer::EncodeBody, refuse::refuse};
use iotbench_core::{Batch, Cause, Error, Layout, TableSpec};
use narrow::NarrowLines;
use std::sync::Arc;
use wide::WideLines;

/// How one layout encodes a batch. Nothing is allocated per datapoint once the buffers have their size.
trait Encode: Send {
    /// Appends the lines of a batch.
    fn encode(&mut self, batch: &Batch, dialect: Dialect, lines: &mut Lines);
}

/// What one server takes in its lines.
#[derive(Clone, Copy, Debug)]
pub struct Dialect {
    /// The server's name.
    pub product: &'static str,
    /// The times that it stores.
    pub times: TimeRule,
    /// Refuses the values that it does not store, as data with nothing applied.
    pub refuse_values: fn(&Batch) -> Result<(), Error>,
    /// Whether a text that goes over several lines has a backslash before each end of a line.
    pub escapes_newlines: bool,
    /// Whether a tag of another type than text is a field, which has that type, and no tag.
    pub has_typed_fields: bool,
}

/// The lines of one batch after the other.
pub struct Encoder {
    table: Arc<TableSpec>,
    dialect: Dialect,
    layout: Box<dyn Encode>,
    /// What was encoded last.
    pub lines: Lines,
}

impl Encoder {
    /// An encoder of a table's layout for a server.
    ///
    /// # Errors
    /// Client for a layout that has no lines.
    pub fn new(dialect: Dialect, table: Arc<TableSpec>) -> Result<Self, Error> {
        let layout: Box<dyn Encode> = match table.layout {
            Layout::Wide => Box::new(WideLines::new(Arc::clone(&table))),
            Layout::Narrow => Box::new(NarrowLines::new(Arc::clone(&table))),
            other => return Err(Error::new(Cause::Client, format!("{} has no layout {other}", dialect.product))),
        };
        Ok(Self { table, dialect, layout, lines: Lines::default() })
    }

    /// Checks that a batch can be stored.
    ///
    /// # Errors
    /// Data with nothing applied, for what cannot.
    pub fn check(&self, batch: &Batch) -> Result<(), Error> {
        refuse(batch, &self.table)?;
        self.dialect.times.check(self.dialect.product, batch)?;
        (self.dialect.refuse_values)(batch)
    }

    /// Encodes a batch in the place of the one before.
    ///
    /// # Errors
    /// Data with nothing applied, for what cannot be stored.
    pub fn encode(&mut self, batch: &Batch) -> Result<&mut Lines, Error> {
        self.check(batch)?;
        self.lines.clear();
        self.layout.encode(batch, self.dialect, &mut self.lines);
        Ok(&mut self.lines)
    }
}

impl EncodeBody for Encoder {
    fn encode_body(&mut self, batch: &Batch) -> Result<usize, Error> {
        self.encode(batch).map(|lines| lines.ends.len())
    }

    fn body(&mut self) -> &mut Vec<u8> {
        &mut self.lines.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::{
        Applied, Marker, Name, Run, Schema, Signal, Tag, TagType, TagValues, Tags, TimeUnit, Value, ValueType,
    };

    const ALL_NS: Dialect = Dialect {
        product: "x",
        times: TimeRule { unit: TimeUnit::Ns, earliest_ns: i64::MIN + 2, latest_ns: i64::MAX - 1 },
        refuse_values: |_| Ok(()),
        escapes_newlines: false,
        has_typed_fields: false,
    };
    const MS: Dialect =
        Dialect { times: TimeRule { unit: TimeUnit::Ms, earliest_ns: 0, latest_ns: i64::MAX }, ..ALL_NS };

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
        let mut encoder = Encoder::new(ALL_NS, Arc::clone(&table)).unwrap();
        let lines = encoder.encode(&batch(&table, points)).unwrap();
        (String::from_utf8(lines.bytes.clone()).unwrap(), lines.ends.len())
    }

    #[test]
    fn tags_of_a_type_are_tags_or_fields_of_it() {
        let typed = |name: &str, tag_type, value: &str| {
            let values = Box::new(TagValues::OneOf(vec![value.into()]));
            Tag { name: name.into(), values: TagValues::Typed { tag_type, values } }
        };
        let tags = vec![
            typed("floor", TagType::Integer, "-2"),
            typed("load", TagType::Number, "1500"),
            Tag { name: "site".into(), values: TagValues::OneOf(vec!["east".into()]) },
            typed("leased", TagType::Truth, "true"),
        ];
        let of = |layout, has_typed_fields| {
            let mut table = TableSpec::clone(&table(layout, 1));
            table.schema = table.schema.with_tags(Tags::new(1, tags.clone()).unwrap()).unwrap();
            let batch = batch(&table, &[(0, 5)]);
            let mut encoder = Encoder::new(Dialect { has_typed_fields, ..ALL_NS }, Arc::new(table)).unwrap();
            String::from_utf8(encoder.encode(&batch).unwrap().bytes.clone()).unwrap()
        };
        let narrow = of(Layout::Narrow, false);
        let first = narrow.lines().next();
        assert_eq!(first, Some("t,floor=-2,load=1500,site=east,leased=true,signal=a v=7i 5"));
        let fields = ",floor=-2i,load=1500.0,leased=t 5\n";
        assert_eq!(of(Layout::Wide, true), format!("t,site=east a=0.5,b=-1i,c=\"x\ny\"{fields}"));
        let values = ["a", "b"].map(|signal| format!("t,site=east,signal={signal} v=7i{fields}"));
        assert_eq!(of(Layout::Narrow, true), values.concat());
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
    fn a_devices_tags_stand_in_each_line() {
        let sites = TagValues::OneOf(["east", "west"].map(Into::into).to_vec());
        let racks = TagValues::Numbered { prefix: "r_".into(), count: 9 };
        let named = |name: &str, values| Tag { name: name.into(), values };
        let tags = Tags::new(1, vec![named("site", sites), named("rack", racks)]).unwrap();
        for layout in [Layout::Wide, Layout::Narrow] {
            let plain = table(layout, 9);
            let table = Arc::new(TableSpec {
                schema: plain.schema.clone().with_tags(tags.clone()).unwrap(),
                ..(*plain).clone()
            });
            let mut encoder = Encoder::new(ALL_NS, Arc::clone(&table)).unwrap();
            let lines = encoder.encode(&batch(&table, &[(2, 5), (7, 5)])).unwrap();
            let text = String::from_utf8(lines.bytes.clone()).unwrap();
            for device in [2, 7] {
                let values: Vec<_> = tags.of(device).map(|(tag, value)| format!(",{}={value}", tag.name)).collect();
                let start = format!("t,device={device}{}", values.concat());
                assert!(text.lines().any(|line| line.starts_with(&start)), "{start}\n{text}");
            }
        }
    }

    #[test]
    fn a_time_beyond_what_is_stored_is_refused() {
        let table = table(Layout::Wide, 1);
        let mut encoder = Encoder::new(ALL_NS, Arc::clone(&table)).unwrap();
        for time in [i64::MIN, i64::MIN + 1, i64::MAX] {
            let error = encoder.encode(&batch(&table, &[(0, 1), (0, time)])).err().unwrap();
            assert_eq!((error.cause, error.applied), (Cause::Data, Applied::No), "{time}");
        }
    }

    #[test]
    fn a_text_of_several_lines_is_written_as_the_server_reads_it() {
        let table = table(Layout::Wide, 1);
        let dialect = Dialect { escapes_newlines: true, ..ALL_NS };
        let mut encoder = Encoder::new(dialect, Arc::clone(&table)).unwrap();
        let lines = encoder.encode(&batch(&table, &[(0, 5)])).unwrap();
        assert_eq!(lines.bytes, b"t a=0.5,b=-1i,c=\"x\\\ny\" 5\n");
    }

    #[test]
    fn a_value_that_the_server_does_not_store_is_refused() {
        let table = table(Layout::Wide, 1);
        let dialect = Dialect { refuse_values: |_| Err(Error::new(Cause::Data, "not this one")), ..ALL_NS };
        let error = Encoder::new(dialect, Arc::clone(&table)).unwrap().encode(&batch(&table, &[(0, 5)])).err().unwrap();
        assert_eq!((error.cause, error.applied), (Cause::Data, Applied::No));
    }

    #[test]
    fn a_time_between_two_units_is_refused() {
        let table = table(Layout::Narrow, 1);
        let mut encoder = Encoder::new(MS, Arc::clone(&table)).unwrap();
        let error = encoder.encode(&batch(&table, &[(0, 7_000_000), (0, 8_999_999)])).err().unwrap();
        assert!(error.cause == Cause::Data && error.message.contains("8999999"), "{error}");
        let lines = encoder.encode(&batch(&table, &[(0, 7_000_000)])).unwrap();
        assert_eq!(lines.bytes, b"t,signal=a v=7i 7\nt,signal=b v=7i 7\n");
    }

    #[test]
    fn a_warm_encoder_allocates_nothing() {
        for layout in [Layout::Wide, Layout::Narrow] {
            let table = table(layout, 3);
            let batch = batch(&table, &(0..1000).map(|i| (u32::from(i >= 500), i)).collect::<Vec<_>>());
            let mut encoder = Encoder::new(ALL_NS, Arc::clone(&table)).unwrap();
            encoder.encode(&batch).unwrap();
            let allocated = allocation_counter::measure(|| {
                encoder.encode(&batch).unwrap();
            });
            assert_eq!(allocated.count_total, 0, "{layout}");
        }
    }
}
