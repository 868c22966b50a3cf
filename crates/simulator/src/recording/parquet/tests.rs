use super::super::{Broken, Recording, RecordingError, RecordingForm, RecordingPlan, tags::RecordedTags};
use super::*;
use parquet::{
    basic::{Repetition, Type as Physical},
    data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type},
    file::{
        properties::WriterProperties,
        writer::{SerializedFileWriter, SerializedRowGroupWriter},
    },
    schema::types::Type,
};
use std::{collections::BTreeMap, fs::File, sync::Arc};

/// A column of a table; a text that is empty is null.
enum Cells<'a> {
    Texts(&'a [&'a str]),
    Wholes(&'a [i64]),
    Numbers(&'a [f64]),
    Truths(&'a [bool]),
}
use Cells::{Numbers, Texts, Truths, Wholes};

impl Cells<'_> {
    fn described(&self, name: &str) -> Type {
        let (physical, logical) = match self {
            Texts(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Wholes(_) => (Physical::INT64, None),
            Numbers(_) => (Physical::DOUBLE, None),
            Truths(_) => (Physical::BOOLEAN, None),
        };
        let column = Type::primitive_type_builder(name, physical).with_repetition(Repetition::OPTIONAL);
        column.with_logical_type(logical).build().unwrap()
    }

    fn write(&self, group: &mut SerializedRowGroupWriter<'_, File>) {
        let there = |count: usize| Some(vec![1; count]);
        let mut column = group.next_column().unwrap().unwrap();
        let written = match self {
            Texts(texts) => {
                let levels: Vec<i16> = texts.iter().map(|text| i16::from(!text.is_empty())).collect();
                let texts = texts.iter().filter(|text| !text.is_empty());
                let texts: Vec<ByteArray> = texts.map(|&text| ByteArray::from(text)).collect();
                column.typed::<ByteArrayType>().write_batch(&texts, Some(&levels), None)
            }
            Wholes(v) => column.typed::<Int64Type>().write_batch(v, there(v.len()).as_deref(), None),
            Numbers(v) => column.typed::<DoubleType>().write_batch(v, there(v.len()).as_deref(), None),
            Truths(v) => column.typed::<BoolType>().write_batch(v, there(v.len()).as_deref(), None),
        };
        written.unwrap();
        column.close().unwrap();
    }
}

/// What is read of a table of these columns.
fn recording(columns: &[(&str, Cells<'_>)], dictionary: bool, tags: RecordedTags) -> Result<Recording, RecordingError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.parquet");
    let fields = columns.iter().map(|(name, cells)| Arc::new(cells.described(name))).collect();
    let schema = Type::group_type_builder("readings").with_fields(fields).build().unwrap();
    let properties = WriterProperties::builder().set_dictionary_enabled(dictionary).build();
    let mut table = SerializedFileWriter::new(File::create(&path).unwrap(), schema.into(), properties.into()).unwrap();
    let mut group = table.next_row_group().unwrap();
    columns.iter().for_each(|(_, cells)| cells.write(&mut group));
    group.close().unwrap();
    table.close().unwrap();
    Recording::read(&RecordingPlan {
        path: &path,
        form: RecordingForm::Auto,
        time: RecordedTime::Auto,
        measurement: "",
        device_tag: "",
        signals: &[],
        types: &BTreeMap::new(),
        tags,
        broken: Broken::Stop,
        memory_bytes: 1 << 20,
    })
}

fn of_each(recording: &Recording) -> Vec<String> {
    let tags = iotbench_core::Tags::new(0, recording.tags.clone()).unwrap();
    let of = |device| tags.of(device).map(|(tag, value)| format!("{}={value}", tag.name)).collect::<Vec<_>>().join(",");
    (0..).take(recording.devices.len()).map(of).collect()
}

#[test]
fn columns_of_tags_are_those_of_the_devices_wherever_they_stand_and_however_they_are_stored() {
    let columns = [
        ("tag:site", Texts(&["east", "west", "east"])),
        ("x", Wholes(&[1, 2, 3])),
        ("time", Wholes(&[1, 2, 3])),
        ("tag:floor", Wholes(&[-7, 8, -7])),
        ("tag:load", Numbers(&[1500.0, 0.25, 1500.0])),
        ("device", Texts(&["a", "b", "a"])),
        ("tag:leased", Truths(&[true, false, true])),
    ];
    for dictionary in [true, false] {
        let recording = recording(&columns, dictionary, RecordedTags::Keep).unwrap();
        let expected = ["floor=-7,leased=true,load=1500,site=east", "floor=8,leased=false,load=0.25,site=west"];
        assert_eq!((of_each(&recording), recording.remark), (expected.map(Into::into).to_vec(), None));
        assert_eq!(recording.schema.width(), 1, "a tag is no signal");
    }
    let none = recording(&columns, true, RecordedTags::LeaveOut).unwrap();
    assert_eq!((of_each(&none), none.schema.width()), (vec![String::new(); 2], 1));
}

#[test]
fn a_tag_that_changes_or_is_null_is_told_with_device_and_row_or_refused() {
    let columns = [
        ("time", Wholes(&[1, 2, 3])),
        ("device", Texts(&["a", "b", "a"])),
        ("tag:region", Texts(&["eu", "us", "us"])),
        ("tag:os", Texts(&["u16", "", "u16"])),
        ("x", Wholes(&[1, 2, 3])),
    ];
    let kept = recording(&columns, true, RecordedTags::Keep).unwrap();
    let told = "tags were left out: os (device b has none), region (of device a it is \"eu\", and \"us\" in row 3)";
    assert_eq!((of_each(&kept), kept.remark.as_deref()), (vec![String::new(); 2], Some(told)));
    let refused = recording(&columns, false, RecordedTags::Strict).unwrap_err().to_string();
    assert!(refused.contains("tag region: of device a it is \"eu\", and \"us\" in row 3"), "{refused}");
    let nobodys = [("time", Wholes(&[1])), ("tag:site", Texts(&["a"])), ("x", Wholes(&[1]))];
    let refused = recording(&nobodys, true, RecordedTags::Keep).unwrap_err().to_string();
    assert!(refused.contains("\"tag:site\" must be there once, beside a column that names the device"), "{refused}");
}
