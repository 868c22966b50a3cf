//! What the fuzz targets share: a folder in memory, inputs of several parts, and tables to ask about.

use iotbench_core::{Layout, Marker, Name, Schema, Signal, TableSpec, Tag, TagValues, Tags, ValueType};
use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::OnceLock,
};

/// The line between the parts of an input that is several files.
const BETWEEN: &[u8] = b"\n%%%%\n";

/// An input's parts, as many as are wanted; those that there are not are `None`.
#[must_use]
pub fn parts<const N: usize>(data: &[u8]) -> [Option<&[u8]>; N] {
    let mut rest = Some(data);
    std::array::from_fn(|_| {
        let data = rest.take()?;
        match data.windows(BETWEEN.len()).position(|window| window == BETWEEN) {
            Some(at) => {
                rest = data.get(at + BETWEEN.len()..);
                data.get(..at)
            }
            None => Some(data),
        }
    })
}

/// This process's own folder. `scripts/fuzz` has it in memory and removes it.
#[must_use]
pub fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| tempfile::Builder::new().prefix("iotbench-fuzz.").tempdir().unwrap().keep())
}

/// An empty folder.
#[must_use]
pub fn empty_folder(name: &str) -> PathBuf {
    let folder = folder().join(name);
    match fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => panic!("{}: {error}", folder.display()),
        _ => {}
    }
    fs::create_dir(&folder).unwrap();
    folder
}

/// Signals of every type, named by it.
#[must_use]
pub fn schema() -> Schema {
    let signal = |value_type: ValueType| Signal {
        name: format!("{value_type:?}").to_lowercase(),
        value_type,
        max_text_bytes: if value_type == ValueType::Text { 100 } else { 0 },
    };
    Schema::new(ValueType::ALL.map(signal).into()).unwrap()
}

/// A table of numbers that every database can hold.
#[must_use]
pub fn table(layout: Layout) -> TableSpec {
    let signal = |name: &str| Signal { name: name.into(), value_type: ValueType::F64, max_text_bytes: 0 };
    TableSpec {
        name: Name::new("readings").unwrap(),
        layout,
        schema: Schema::new(["a", "b"].map(signal).into()).unwrap(),
        devices: 2,
        marker: Marker { run_id: "r".into(), fingerprint: "f".into() },
    }
}

/// The same, of devices at one of two sites.
#[must_use]
pub fn with_tags(table: TableSpec) -> TableSpec {
    let values = TagValues::OneOf(["east", "west"].map(Into::into).to_vec());
    let tags = Tags::new(0, vec![Tag { name: "site".into(), values }]).unwrap();
    TableSpec { schema: table.schema.with_tags(tags).unwrap(), ..table }
}
