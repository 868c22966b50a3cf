//! Recordings: datapoints as they were sent, from a file of CSV, line protocol, TSBS or Parquet, held in memory as columns.
//!
//! A file is read twice, as a stream: once for its signals, their types and how much there is, once for the datapoints.

mod csv;
mod devices;
mod error;
mod line_protocol;
mod lines;
#[cfg(feature = "parquet")]
mod parquet;
mod plan;
mod reader;
mod row;
mod signals;
mod stop;
mod survey;
mod tags;
mod tsbs;

pub use csv::TAG as TAG_COLUMN;
pub use error::RecordingError;
pub use plan::{Broken, RecordedTime, RecordingForm, RecordingPlan};
pub use reader::RowReader;
pub use row::{Row, type_name};
pub use survey::Survey;
pub use tags::RecordedTags;

use error::Fault;
use iotbench_core::{Column, Schema, Tag, TextColumn, ValueType};
use tags::Recorded;

/// Datapoints as recorded.
#[derive(Debug)]
pub struct Recording {
    /// The signals.
    pub schema: Schema,
    /// The devices in the order in which the file names them first.
    pub devices: Vec<RecordedDevice>,
    /// The tags of its devices.
    pub tags: Vec<Tag>,
    /// What was left out and why, where something was.
    pub remark: Option<String>,
}

/// One device's datapoints.
#[derive(Debug)]
pub struct RecordedDevice {
    /// Its name; empty where the file names none.
    pub name: String,
    /// Rising strictly.
    pub timestamps_ns: Vec<i64>,
    /// One a signal.
    pub columns: Vec<Column>,
    /// Which datapoint was sent at each position, where they were not sent by their times.
    pub sent: Option<Vec<u32>>,
}

impl Recording {
    /// Reads a recording.
    ///
    /// # Errors
    /// A file that cannot be read, more datapoints than may be held, lines that are broken; with file, line and column.
    pub fn read(plan: &RecordingPlan<'_>) -> Result<Self, RecordingError> {
        let survey = Survey::read(plan, true, |_, _| Ok(()))?;
        let mut reader = RowReader::open(plan, &survey.names)?;
        let (mut row, mut devices) = (Row::default(), Vec::<Option<Sent>>::new());
        while reader.next(&mut row)? {
            if let Err(fault) = row.check(&survey.schema) {
                reader.fault(row.line, fault)?;
                continue;
            }
            let device = row.device as usize;
            if devices.len() <= device {
                devices.resize_with(device + 1, || None);
            }
            let rows = survey.rows.get(device).copied().unwrap_or(0);
            devices[device].get_or_insert_with(|| Sent::new(&survey.schema, rows)).push(&row, &survey.schema);
        }
        let (mut recorded, mut places) = (Vec::new(), Vec::new());
        for (place, (name, sent)) in reader.devices.names().to_vec().into_iter().zip(devices).enumerate() {
            if let Some(sent) = sent {
                recorded.push(sent.by_time(name, &mut reader)?);
                places.push(place);
            }
        }
        if recorded.is_empty() {
            return Err(RecordingError::Empty { file: reader.file().into(), skipped: reader.skipped() });
        }
        let Recorded { tags, left_out } = recorded_tags(plan, &reader, &places, &survey.schema)?;
        let tags_left_out = (!left_out.is_empty()).then(|| format!("tags were left out: {}", left_out.join(", ")));
        let parts: Vec<String> = survey.remark(&reader).into_iter().chain(tags_left_out).collect();
        let remark = (!parts.is_empty()).then(|| parts.join("; "));
        Ok(Self { schema: survey.schema, devices: recorded, tags, remark })
    }
}

/// The tags of these devices, as a plan has them.
fn recorded_tags(
    plan: &RecordingPlan<'_>,
    reader: &RowReader,
    places: &[usize],
    schema: &Schema,
) -> Result<Recorded, RecordingError> {
    match (plan.tags, reader.devices.first_changed()) {
        (RecordedTags::LeaveOut, _) => Ok(Recorded::default()),
        (RecordedTags::Strict, Some((tag, how))) => {
            let message = format!(
                "{how}: a tag stays the same on a device; name the device by it, or write recorded_tags = \"keep\""
            );
            Err(RecordingError::Tag { file: reader.file().into(), tag: tag.into(), message })
        }
        _ => Ok(Recorded::of(&reader.devices, places, schema)),
    }
}

/// One device's datapoints in the order of the file.
struct Sent {
    timestamps_ns: Vec<i64>,
    columns: Vec<Column>,
    /// Rows that are not later than all before them, with their lines.
    late: Vec<(usize, u64)>,
    newest_ns: Option<i64>,
}

impl Sent {
    fn new(schema: &Schema, rows: u64) -> Self {
        let rows = usize::try_from(rows).unwrap_or(0);
        let columns = schema.signals().iter().map(|s| with_capacity(s.value_type, rows)).collect();
        Self { timestamps_ns: Vec::with_capacity(rows), columns, late: Vec::new(), newest_ns: None }
    }

    /// Takes a row in which there is a value for each signal.
    fn push(&mut self, row: &Row, schema: &Schema) {
        for (place, (signal, column)) in schema.signals().iter().zip(&mut self.columns).enumerate() {
            match row.value(place, &signal.name, signal.value_type) {
                Ok(value) if column.push(value) => {}
                _ => column.push_default(),
            }
        }
        if self.newest_ns.is_some_and(|newest| newest >= row.time_ns) {
            self.late.push((self.timestamps_ns.len(), row.line));
        } else {
            self.newest_ns = Some(row.time_ns);
        }
        self.timestamps_ns.push(row.time_ns);
    }

    /// The same by time. Of several datapoints of one time the first stays, the others are broken lines.
    fn by_time(self, name: String, reader: &mut RowReader) -> Result<RecordedDevice, RecordingError> {
        let Self { timestamps_ns, columns, late, .. } = self;
        if late.is_empty() {
            return Ok(RecordedDevice { name, timestamps_ns, columns, sent: None });
        }
        let mut rows: Vec<u32> = (0..).take(timestamps_ns.len()).collect();
        if rows.len() < timestamps_ns.len() {
            let message = "has more than 4294967296 datapoints, not sorted by time: sort it".into();
            return Err(RecordingError::Header { file: reader.file().into(), line: 1, message });
        }
        // Stable: equal times stay in the order of the file.
        rows.sort_by_key(|&row| timestamps_ns[row as usize]);
        let mut doubled: Vec<u32> = Vec::new();
        rows.dedup_by(|next, before| {
            let is_doubled = timestamps_ns[*next as usize] == timestamps_ns[*before as usize];
            doubled.extend(is_doubled.then_some(*next));
            is_doubled
        });
        doubled.sort_unstable();
        for row in doubled {
            let line = late.binary_search_by_key(&(row as usize), |(row, _)| *row).map_or(0, |at| late[at].1);
            let message = "is that of a datapoint of the device before it: a device has one datapoint at a time";
            reader.fault(line, Fault::column("time", message))?;
        }
        let mut sent = vec![u32::MAX; timestamps_ns.len()];
        for (index, &row) in (0..).zip(&rows) {
            sent[row as usize] = index;
        }
        sent.retain(|&index| index != u32::MAX);
        let is_sorted = sent.is_sorted();
        Ok(RecordedDevice {
            name,
            timestamps_ns: rows.iter().map(|&row| timestamps_ns[row as usize]).collect(),
            columns: columns.iter().map(|column| gathered(column, &rows)).collect(),
            sent: (!is_sorted).then_some(sent),
        })
    }
}

/// An empty column with room for so many numbers.
fn with_capacity(value_type: ValueType, rows: usize) -> Column {
    match value_type {
        ValueType::F32 => Column::F32(Vec::with_capacity(rows)),
        ValueType::F64 => Column::F64(Vec::with_capacity(rows)),
        ValueType::I64 => Column::I64(Vec::with_capacity(rows)),
        ValueType::U16 => Column::U16(Vec::with_capacity(rows)),
        ValueType::Text => Column::Text(TextColumn::default()),
    }
}

/// These rows of a column, in this order.
fn gathered(column: &Column, rows: &[u32]) -> Column {
    let mut gathered = with_capacity(column.value_type(), rows.len());
    for value in rows.iter().filter_map(|&row| column.get(row as usize)) {
        // Of the same type, so that none is refused.
        let _ = gathered.push(value);
    }
    gathered
}
