//! What TSBS (the Time Series Benchmark Suite) writes for TimescaleDB and ClickHouse: a head with a line of tags and a line for
//! each table, an empty line, then two lines a datapoint, `tags,name=value,…` and `table,time,value,…`.
//!
//! Names and values hold no comma and no quotes; what TSBS left out is empty. Times are nanoseconds.
//! <https://github.com/timescale/tsbs/blob/master/pkg/targets/timescaledb/serializer.go>

use super::{devices::Devices, error::Fault, lines::Lines, plan::RecordedTime, row::Row, signals::Signals, stop::Stop};

/// A file of TSBS.
pub struct Tsbs {
    lines: Lines,
    time: RecordedTime,
    /// The table that is read.
    table: String,
    /// Of all tables.
    tables: Vec<String>,
    /// The signal in each column of the table.
    columns: Vec<Option<usize>>,
    /// Of which device the next values are.
    device: Option<u32>,
}

impl Tsbs {
    /// Reads the head of a file; `measurement` is the table that is read, or empty for the file's only one.
    pub fn new(
        mut lines: Lines,
        time: RecordedTime,
        measurement: &str,
        signals: &mut Signals,
    ) -> Result<Self, (u64, Stop)> {
        let read = head(&mut lines, measurement, signals);
        let (table, tables, columns) = read.map_err(|stop| (lines.number, stop))?;
        Ok(Self { lines, time, table, tables, columns, device: None })
    }

    /// The line that was read last.
    pub fn line(&self) -> u64 {
        self.lines.number
    }

    /// Reads the next row; false at the end.
    pub fn next(&mut self, row: &mut Row, devices: &mut Devices) -> Result<bool, Stop> {
        while self.lines.advance()? {
            let line = self.lines.text().map_err(Fault::line)?;
            let Some((table, rest)) = line.split_once(',') else {
                if line.is_empty() {
                    continue;
                }
                return Err(Fault::line("has no comma").into());
            };
            if table == "tags" {
                self.device = None;
                self.device = Some(device(rest, self.lines.number, devices)?);
                continue;
            }
            let device = self.device.take();
            if table != self.table {
                if self.tables.iter().any(|known| known == table) {
                    continue;
                }
                return Err(Fault::line(format!("is of {table:?}, of which the head says nothing")).into());
            }
            row.device = device.ok_or_else(|| Fault::line("has no line of tags before it, or a broken one"))?;
            row.line = self.lines.number;
            row.clear();
            row.time_ns = self.values(rest, row)?;
            return Ok(true);
        }
        Ok(false)
    }

    /// Reads `time,value,…` into a row; its time.
    fn values(&self, rest: &str, row: &mut Row) -> Result<i64, Fault> {
        let mut cells = rest.split(',');
        let time = cells.next().unwrap_or_default();
        let time_ns = self.time.time_ns(time).map_err(|message| Fault::column("time", message))?;
        let mut columns = self.columns.iter();
        for cell in cells.by_ref() {
            match columns.next() {
                Some(Some(signal)) => row.set_word(*signal, cell, false),
                Some(None) => {}
                None => return Err(Fault::line(format!("has more values than the head names for {}", self.table))),
            }
        }
        let left = columns.count();
        if left > 0 {
            return Err(Fault::line(format!("has {left} values fewer than the head names for {}", self.table)));
        }
        Ok(time_ns)
    }
}

type Head = (String, Vec<String>, Vec<Option<usize>>);

fn head(lines: &mut Lines, measurement: &str, signals: &mut Signals) -> Result<Head, Stop> {
    let mut tables: Vec<(String, String)> = Vec::new();
    while lines.advance()? {
        let line = lines.text().map_err(|e| Stop::Refused(e.into()))?;
        if line.is_empty() {
            break;
        }
        let Some((name, columns)) = line.split_once(',') else {
            return Err(Stop::Refused("has no comma: the head of a file of TSBS names tags, then tables".into()));
        };
        if name != "tags" {
            tables.push((name.into(), columns.into()));
        }
    }
    let names: Vec<String> = tables.iter().map(|(name, _)| name.clone()).collect();
    let chosen = match (measurement, tables.as_slice()) {
        (_, []) => return Err(Stop::Refused("the head names no table".into())),
        ("", [only]) => only,
        ("", _) => {
            let all = names.join(", ");
            return Err(Stop::Refused(format!("there are {all}: choose one, as in measurement = {:?}", names[0])));
        }
        (wanted, all) => all
            .iter()
            .find(|(name, _)| name == wanted)
            .ok_or_else(|| Stop::Refused(format!("there is no measurement {wanted:?}, but {}", names.join(", "))))?,
    };
    let places = chosen.1.split(',').map(|column| signals.place(column.as_bytes()));
    let columns = places.collect::<Result<_, _>>().map_err(Stop::Refused)?;
    Ok((chosen.0.clone(), names, columns))
}

fn device(tags: &str, line: u64, devices: &mut Devices) -> Result<u32, Stop> {
    if let Some(Some(device)) = devices.known(tags.as_bytes()) {
        return Ok(device);
    }
    let mut pairs = Vec::new();
    for tag in tags.split(',') {
        let (key, value) = tag.split_once('=').ok_or_else(|| Fault::line(format!("has the tag {tag:?} without =")))?;
        pairs.push((key.to_owned(), value.to_owned()));
    }
    let device = devices.of_tags(pairs, line)?;
    devices.keep(tags.as_bytes(), Some(device))?;
    Ok(device)
}
