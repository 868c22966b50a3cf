//! `InfluxDB`'s line protocol: `measurement,tag=value field=1i,other=2.5 time`.
//!
//! As `InfluxDB` reads it: a space, comma or equals sign that a backslash precedes is no separator, a text may hold line
//! ends, lines that begin with `#` are comments. <https://docs.influxdata.com/influxdb/v2/reference/syntax/line-protocol/>

use super::{devices::Devices, error::Fault, lines::Lines, plan::RecordedTime, row::Row, signals::Signals, stop::Stop};
use memchr::{memchr, memchr2};

/// A file in line protocol.
pub struct LineProtocol {
    lines: Lines,
    time: RecordedTime,
    /// The only one that is read; empty until a line names it.
    measurement: Vec<u8>,
    is_chosen: bool,
}

impl LineProtocol {
    /// The rows of these lines; `measurement` is the one that is read, or empty for the file's only one.
    pub fn new(lines: Lines, time: RecordedTime, measurement: &str) -> Self {
        Self { lines, time, measurement: measurement.into(), is_chosen: !measurement.is_empty() }
    }

    /// The line that was read last.
    pub fn line(&self) -> u64 {
        self.lines.number
    }

    /// Reads the next row; false at the end.
    pub fn next(&mut self, row: &mut Row, signals: &mut Signals, devices: &mut Devices) -> Result<bool, Stop> {
        while self.lines.advance()? {
            if matches!(self.lines.line().first(), None | Some(b'#')) {
                continue;
            }
            if memchr(b'"', self.lines.line()).is_some() {
                self.join_quoted()?;
            }
            let line = self.lines.text().map_err(Fault::line)?;
            let head_ends = separator(line.as_bytes(), b' ').ok_or_else(|| Fault::line("has no fields"))?;
            let (head, rest) = line.split_at(head_ends);
            let device = match devices.known(head.as_bytes()) {
                Some(device) => device,
                None => {
                    let place = (head, self.lines.number);
                    let device = device(place, &mut self.measurement, self.is_chosen, devices)?;
                    devices.keep(head.as_bytes(), device)?;
                    device
                }
            };
            let Some(device) = device else { continue };
            row.clear();
            row.device = device;
            row.line = self.lines.number;
            let time = fields(rest.trim_start_matches(' '), row, signals)?;
            row.time_ns = match self.time {
                RecordedTime::Auto => RecordedTime::Ns.time_ns(time),
                unit => unit.time_ns(time),
            }
            .map_err(|message| Fault::column("time", message))?;
            return Ok(true);
        }
        Ok(false)
    }
}

impl LineProtocol {
    /// Adds the lines that belong to a text of the line at hand.
    fn join_quoted(&mut self) -> Result<(), Stop> {
        let mut quotes = Quotes::default();
        let mut seen = quotes.read(self.lines.line());
        while quotes.are_open() && self.lines.join()? {
            seen += quotes.read(self.lines.line().get(seen..).unwrap_or_default());
        }
        Ok(())
    }
}

/// Who measurement and tags stand for; `None` where the measurement is another one.
fn device(
    (head, line): (&str, u64),
    measurement: &mut Vec<u8>,
    is_chosen: bool,
    devices: &mut Devices,
) -> Result<Option<u32>, Stop> {
    let name_ends = separator(head.as_bytes(), b',').unwrap_or(head.len());
    let (name, mut rest) = head.split_at(name_ends);
    let name = unescaped(name);
    if name.is_empty() {
        return Err(Fault::line("has no measurement").into());
    }
    if measurement.is_empty() {
        *measurement = name.clone().into_bytes();
    }
    if name.as_bytes() != *measurement {
        if is_chosen {
            return Ok(None);
        }
        let first = String::from_utf8_lossy(measurement).into_owned();
        return Err(Stop::Refused(format!(
            "is of the measurement {name:?}, those before it of {first:?}: choose one, as in measurement = {first:?}"
        )));
    }
    let mut tags = Vec::new();
    while let Some(tag) = rest.strip_prefix(',') {
        let ends = separator(tag.as_bytes(), b',').unwrap_or(tag.len());
        let (tag, after) = tag.split_at(ends);
        let equals =
            separator(tag.as_bytes(), b'=').ok_or_else(|| Fault::line(format!("has the tag {tag:?} without =")))?;
        tags.push((unescaped(&tag[..equals]), unescaped(&tag[equals + 1..])));
        rest = after;
    }
    devices.of_tags(tags, line).map(Some)
}

/// Reads `name=value,…` into a row; what stands after them, which is the time.
fn fields<'a>(mut rest: &'a str, row: &mut Row, signals: &mut Signals) -> Result<&'a str, Stop> {
    signals.begin_line();
    loop {
        let equals = separator(rest.as_bytes(), b'=').ok_or_else(|| Fault::line("has a field without ="))?;
        let (key, value) = (&rest[..equals], &rest[equals + 1..]);
        let signal =
            if key.contains('\\') { signals.place(unescaped(key).as_bytes()) } else { signals.place(key.as_bytes()) };
        let signal = signal.map_err(Fault::line)?;
        let ends = match value.strip_prefix('"') {
            Some(text) => {
                let ends = closing_quote(text.as_bytes()).ok_or_else(|| Fault::column(key, "has no closing quote"))?;
                let is_new = signal.is_none_or(|signal| row.set_text(signal, |out| push_unquoted(&text[..ends], out)));
                check_new(is_new, key)?;
                ends + 2
            }
            None => {
                let ends = memchr2(b',', b' ', value.as_bytes()).unwrap_or(value.len());
                if let Some(signal) = signal {
                    let is_new = number(&value[..ends], signal, row).map_err(|message| Fault::column(key, message))?;
                    check_new(is_new, key)?;
                }
                ends
            }
        };
        let after = &value[ends..];
        match after.as_bytes().first() {
            Some(b',') => rest = &after[1..],
            Some(b' ') => return Ok(after.trim_matches(' ')),
            None => return Err(Fault::column("time", "is missing: every line needs one").into()),
            Some(_) => return Err(Fault::column(key, "is followed by neither a comma nor a space").into()),
        }
    }
}

fn check_new(is_new: bool, key: &str) -> Result<(), Fault> {
    if is_new { Ok(()) } else { Err(Fault::column(key, "stands twice in the line")) }
}

/// Reads a number or a truth value into a row: `1.5`, `3i`, `3u`, `true`, which is 1.
#[inline]
fn number(value: &str, signal: usize, row: &mut Row) -> Result<bool, String> {
    let misfit = |e: &dyn std::fmt::Display| format!("{value:?}: {e}");
    match value.as_bytes() {
        [digits @ .., b'i'] => {
            let whole: i64 = value[..digits.len()].parse().map_err(|e| misfit(&e))?;
            Ok(row.set_i64(signal, whole))
        }
        [digits @ .., b'u'] => {
            let whole: u64 = value[..digits.len()].parse().map_err(|e| misfit(&e))?;
            let whole =
                i64::try_from(whole).map_err(|_| misfit(&"above 9223372036854775807, the largest that is taken"))?;
            Ok(row.set_i64(signal, whole))
        }
        b"t" | b"T" | b"true" | b"True" | b"TRUE" => Ok(row.set_i64(signal, 1)),
        b"f" | b"F" | b"false" | b"False" | b"FALSE" => Ok(row.set_i64(signal, 0)),
        _ => {
            let number: f64 = value.parse().map_err(|e| misfit(&e))?;
            if !number.is_finite() {
                return Err(misfit(&"is not finite"));
            }
            Ok(row.set_f64(signal, number))
        }
    }
}

/// The first of these bytes that no backslash precedes.
#[inline]
fn separator(text: &[u8], byte: u8) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + memchr(byte, text.get(from..)?)?;
        if at == 0 || text[at - 1] != b'\\' {
            return Some(at);
        }
        from = at + 1;
    }
}

/// Where a quoted text ends.
fn closing_quote(text: &[u8]) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + memchr2(b'"', b'\\', text.get(from..)?)?;
        if text[at] == b'"' {
            return Some(at);
        }
        from = at + 2;
    }
}

fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match (character, characters.peek()) {
            ('\\', Some(&escaped @ (',' | '=' | ' '))) => {
                out.push(escaped);
                characters.next();
            }
            _ => out.push(character),
        }
    }
    out
}

fn push_unquoted(text: &str, out: &mut String) {
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match (character, characters.peek()) {
            ('\\', Some(&escaped @ ('"' | '\\'))) => {
                out.push(escaped);
                characters.next();
            }
            _ => out.push(character),
        }
    }
}

/// Whether a text is open at the end of what was read of a line. Quotes before the fields are none.
#[derive(Debug, Default)]
struct Quotes {
    is_in_fields: bool,
    is_open: bool,
    /// The last byte was a backslash that escapes what follows.
    is_escaped: bool,
}

impl Quotes {
    fn are_open(&self) -> bool {
        self.is_open
    }

    /// Reads more of a line; how many bytes that was.
    fn read(&mut self, bytes: &[u8]) -> usize {
        for &byte in bytes {
            let was_escaped = std::mem::replace(&mut self.is_escaped, byte == b'\\');
            if self.is_open {
                // In a text a backslash escapes a backslash too.
                self.is_escaped &= !was_escaped;
                self.is_open = byte != b'"' || was_escaped;
            } else if !self.is_in_fields {
                self.is_in_fields = byte == b' ' && !was_escaped;
            } else {
                self.is_open = byte == b'"';
            }
        }
        bytes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::row::Seen;

    fn read(fields_of_line: &str) -> Result<(Row, Signals, String), String> {
        let (mut row, mut signals) = (Row::default(), Signals::new(&[]));
        let time = fields(fields_of_line, &mut row, &mut signals).map_err(|stop| format!("{stop:?}"))?.to_owned();
        Ok((row, signals, time))
    }

    #[test]
    fn fields_are_of_the_type_that_they_are_written_with() {
        let (row, signals, time) = read(r#"a=1.5,b=-3i,c=7u,d=T,e=false,f="x \"y\" \\ z, =",g=1e3 12"#).unwrap();
        assert_eq!(signals.names(), ["a", "b", "c", "d", "e", "f", "g"]);
        let seen: Vec<Seen<'_>> = (0..7).map(|signal| row.get(signal)).collect();
        let text = r#"x "y" \ z, ="#;
        let expected =
            [Seen::F64(1.5), Seen::I64(-3), Seen::I64(7), Seen::I64(1), Seen::I64(0), Seen::Text(text), Seen::F64(1e3)];
        assert_eq!(seen, expected);
        assert_eq!(time, "12");
    }

    #[test]
    fn what_is_wrong_names_the_field() {
        for (line, expected) in [
            ("a=1", "time"),
            ("a=1i,b 3", "without ="),
            ("a=x 3", "invalid float"),
            ("a=1.5i 3", "1.5i"),
            ("a=18446744073709551615u 3", "the largest that is taken"),
            ("a=nan 3", "not finite"),
            ("a=1,a=2 3", "twice"),
            ("a=\"b 3", "closing quote"),
            ("a=\"b\"c 3", "neither a comma nor a space"),
            ("a= 3", "a"),
            ("A=1,a=2 3", "two columns"),
        ] {
            let error = read(line).err().unwrap();
            assert!(error.contains(expected), "{line}: {error}");
        }
    }

    #[test]
    fn a_text_is_open_until_its_quote_that_is_not_escaped() {
        for (line, is_open) in [
            (r#"m"x,t=" a=1"#, false),
            (r#"m\ "x a="b"#, true),
            (r#"m a="b\""#, true),
            (r#"m a="b\\""#, false),
            (r#"m a="b",c="d"#, true),
        ] {
            let mut quotes = Quotes::default();
            for piece in line.as_bytes().chunks(3) {
                quotes.read(piece);
            }
            let mut whole = Quotes::default();
            whole.read(line.as_bytes());
            assert_eq!((quotes.are_open(), whole.are_open()), (is_open, is_open), "{line}");
        }
    }
}
