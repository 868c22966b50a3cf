//! The collection and the index of each layout.

use super::{
    config::{Config, Indexes, Precision},
    time::TimeFields,
};
use iotbench_core::{Layout, TableSpec};
use mongodb::bson::{Document, doc};

/// The collection as it is created.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(crate) spec: TableSpec,
    pub(crate) precision: Precision,
    pub(crate) indexes: Indexes,
}

impl Table {
    pub(crate) fn new(spec: TableSpec, config: &Config) -> Self {
        Self { spec, precision: config.precision, indexes: config.indexes }
    }

    pub(crate) fn name(&self) -> &str {
        self.spec.name.as_str()
    }

    /// The fields of the time by which documents are found.
    pub(crate) fn time(&self) -> TimeFields {
        match self.spec.layout {
            Layout::Document | Layout::Wide => TimeFields::of(self.precision),
            Layout::Narrow => TimeFields::Second,
            Layout::Bulk => TimeFields::WholeSecond,
        }
    }

    /// The command that creates the collection: a time series in layout wide.
    pub(crate) fn create_command(&self) -> Document {
        let mut command = doc! { "create": self.name() };
        if self.spec.layout == Layout::Wide {
            let mut series = doc! { "timeField": "time" };
            if self.spec.has_device_column() {
                series.insert("metaField", "device");
            }
            command.insert("timeseries", series);
        }
        command
    }

    /// The keys of its index, where it has one. A time series takes device and time alone.
    pub(crate) fn index_keys(&self) -> Option<Document> {
        let mut keys = Document::new();
        match self.indexes {
            Indexes::None => return None,
            Indexes::Tag if self.spec.has_device_column() => drop(keys.insert("device", 1)),
            Indexes::Tag | Indexes::Time => {}
        }
        let time = self.time();
        let names = if self.spec.layout == Layout::Wide { 1 } else { 2 };
        keys.extend(time.names().take(names).map(|name| (name.to_owned(), 1.into())));
        Some(keys)
    }

    /// The keys by which a sharded collection is divided: a time series cannot have a hashed `_id`.
    pub(crate) fn shard_keys(&self) -> Document {
        match self.spec.layout {
            Layout::Wide if self.spec.has_device_column() => doc! { "device": 1 },
            Layout::Wide => doc! { "time": 1 },
            _ => doc! { "_id": "hashed" },
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use iotbench_core::{Marker, Name, Schema, Settings, Signal, ValueType};

    /// A table of two signals of this type.
    pub(crate) fn table(layout: Layout, devices: u32, value_type: ValueType, settings: &str) -> Table {
        let signal = |name: &str| Signal { name: name.into(), value_type, max_text_bytes: 0 };
        let spec = TableSpec {
            name: Name::new("t").unwrap(),
            layout,
            schema: Schema::new(vec![signal("a"), signal("b")]).unwrap(),
            devices,
            marker: Marker { run_id: "r".into(), fingerprint: "f".into() },
        };
        let config = Config::new(&Settings(serde_json::from_str(settings).unwrap())).unwrap();
        Table::new(spec, &config)
    }

    #[test]
    fn each_layout_has_its_collection_and_its_index() {
        let of = |layout, devices, settings| {
            let table = table(layout, devices, ValueType::F64, settings);
            (table.create_command(), table.index_keys())
        };
        let plain = doc! { "create": "t" };
        let keys = |document| Some(document);
        let cases = [
            (of(Layout::Document, 1, "{}"), plain.clone(), keys(doc! { "time": 1, "ns": 1 })),
            (of(Layout::Document, 2, "{}"), plain.clone(), keys(doc! { "device": 1, "time": 1, "ns": 1 })),
            (
                of(Layout::Document, 2, r#"{"indexes":"time","precision":"ms"}"#),
                plain.clone(),
                keys(doc! { "time": 1 }),
            ),
            (of(Layout::Bulk, 2, "{}"), plain.clone(), keys(doc! { "device": 1, "time": 1 })),
            (of(Layout::Narrow, 1, "{}"), plain.clone(), keys(doc! { "second": 1, "nanosecond": 1 })),
            (of(Layout::Narrow, 1, r#"{"indexes":"none"}"#), plain, None),
            (
                of(Layout::Wide, 2, "{}"),
                doc! { "create": "t", "timeseries": { "timeField": "time", "metaField": "device" } },
                keys(doc! { "device": 1, "time": 1 }),
            ),
        ];
        for (number, (found, command, keys)) in cases.into_iter().enumerate() {
            assert_eq!(found, (command, keys), "case {number}");
        }
    }
}
