//! Annotated CSV, as `/api/v2/query` answers: tables one after the other, each with its types and names.
//!
//! Source: <https://docs.influxdata.com/influxdb/v2/reference/syntax/annotated-csv/>.

use super::api::improper;
use iotbench_backend_kit::http::limits::MAX_SHORT_BYTES;
use iotbench_core::Error;

/// One record as its fields, quotes taken off.
pub(crate) type Record = Vec<String>;

/// Reads records as they come. A field in quotes may hold commas, line ends and doubled quotes.
#[derive(Debug, Default)]
pub(crate) struct Records {
    state: State,
    field: Vec<u8>,
    record: Record,
    /// What the record takes up in memory, without the present field.
    held_bytes: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Field,
    InQuotes,
    AfterQuote,
}

impl Records {
    /// Takes a piece of the answer and gives every record that ends in it to `take`; an empty line is an empty record.
    ///
    /// # Errors
    /// Protocol for what is no CSV; the error of `take`.
    pub(crate) fn push(
        &mut self,
        piece: &[u8],
        take: &mut impl FnMut(&Record) -> Result<(), Error>,
    ) -> Result<(), Error> {
        for &byte in piece {
            self.state = match (self.state, byte) {
                (State::Field, b'"') if self.field.is_empty() => State::InQuotes,
                (State::InQuotes, b'"') => State::AfterQuote,
                (State::AfterQuote, b'"') => {
                    self.field.push(b'"');
                    State::InQuotes
                }
                (State::InQuotes, _) => {
                    self.field.push(byte);
                    State::InQuotes
                }
                (State::Field | State::AfterQuote, b',') => {
                    self.end_field()?;
                    State::Field
                }
                (State::Field | State::AfterQuote, b'\n') => {
                    self.end_record(take)?;
                    State::Field
                }
                (State::Field | State::AfterQuote, b'\r') => State::Field,
                (State::AfterQuote, _) => return Err(improper(&"something stands behind a quote")),
                (State::Field, _) => {
                    self.field.push(byte);
                    State::Field
                }
            };
            if self.held_bytes + self.field.len() > MAX_SHORT_BYTES {
                return Err(improper(&format!("a record of more than {MAX_SHORT_BYTES} bytes")));
            }
        }
        Ok(())
    }

    /// The end of the answer.
    ///
    /// # Errors
    /// Protocol in the middle of a record.
    pub(crate) fn finish(&self) -> Result<(), Error> {
        let is_at_start = self.state == State::Field && self.field.is_empty() && self.record.is_empty();
        if is_at_start { Ok(()) } else { Err(improper(&"it ends in the middle of a record")) }
    }

    fn end_field(&mut self) -> Result<(), Error> {
        let field = String::from_utf8(std::mem::take(&mut self.field)).map_err(|e| improper(&e))?;
        self.held_bytes += field.len() + size_of::<String>();
        self.record.push(field);
        Ok(())
    }

    fn end_record(&mut self, take: &mut impl FnMut(&Record) -> Result<(), Error>) -> Result<(), Error> {
        if !self.record.is_empty() || !self.field.is_empty() || self.state == State::AfterQuote {
            self.end_field()?;
        }
        take(&self.record)?;
        self.record.clear();
        self.held_bytes = 0;
        Ok(())
    }
}

/// The tables of an answer: what the columns of the present one are called, and of which types they are.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    types: Record,
    names: Record,
    /// The next record holds names.
    is_before_names: bool,
}

/// One row with its columns' names.
#[derive(Debug)]
pub(crate) struct Row<'r> {
    names: &'r [String],
    types: &'r [String],
    fields: &'r [String],
}

impl<'r> Row<'r> {
    /// A row whose columns have these names and types.
    #[cfg(feature = "influxdb2-crate")]
    pub(crate) fn new(names: &'r [String], types: &'r [String], fields: &'r [String]) -> Self {
        Self { names, types, fields }
    }

    /// A field by its column's name; `None` where there is no such column, or nothing in it.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let place = self.names.iter().position(|column| column == name)?;
        self.fields.get(place).map(String::as_str).filter(|field| !field.is_empty() || self.is_text(place))
    }

    fn is_text(&self, place: usize) -> bool {
        self.types.get(place).is_some_and(|name| name == "string")
    }
}

impl Tables {
    /// Takes a record; gives the row that it is, if it is one.
    ///
    /// # Errors
    /// Server where the answer is an error in the form of a table; Protocol for a row of other columns.
    pub(crate) fn row<'r>(&'r mut self, record: &'r Record) -> Result<Option<Row<'r>>, Error> {
        match record.first().map(String::as_str) {
            None => self.is_before_names = true,
            Some("#datatype") => {
                self.types.clone_from(record);
                self.is_before_names = true;
            }
            Some(annotation) if annotation.starts_with('#') => self.is_before_names = true,
            // Names stand behind the column of the annotations, which has none.
            Some(first) if (self.is_before_names || self.names.is_empty()) && !first.is_empty() => {
                return Err(improper(&"it is no table"));
            }
            Some(_) if self.is_before_names || self.names.is_empty() => {
                self.names.clone_from(record);
                self.is_before_names = false;
            }
            Some(_) if record.len() != self.names.len() => return Err(improper(&"a row of other columns")),
            Some(_) => {
                let row = Row { names: &self.names, types: &self.types, fields: record };
                if self.names.iter().any(|name| name == "error") {
                    let text = row.get("error").unwrap_or_default();
                    return Err(Error::new(
                        iotbench_core::Cause::Server,
                        iotbench_backend_kit::http::error::shown(text),
                    ));
                }
                return Ok(Some(row));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The columns of each row that are asked for.
    fn read(text: &str, columns: &[&str]) -> Result<Vec<Vec<Option<String>>>, Error> {
        let (mut records, mut tables, mut rows) = (Records::default(), Tables::default(), Vec::new());
        records.push(text.as_bytes(), &mut |record| {
            if let Some(row) = tables.row(record)? {
                rows.push(columns.iter().map(|name| row.get(name).map(Into::into)).collect());
            }
            Ok(())
        })?;
        records.finish().map(|()| rows)
    }

    /// The example of InfluxDB's documentation.
    const DOCUMENTED: &str = "\
#group,false,false,true,true,false,false,true,true,true,true
#datatype,string,long,dateTime:RFC3339,dateTime:RFC3339,dateTime:RFC3339,double,string,string,string,string
#default,mean,,,,,,,,,
,result,table,_start,_stop,_time,_value,_field,_measurement,host,region
,,0,2022-12-31T05:41:24Z,2023-01-31T05:41:24.001Z,2023-01-01T00:52:00Z,15.43,mem,m,A,east
,,1,2022-12-31T05:41:24Z,2023-01-31T05:41:24.001Z,2023-01-01T00:52:00Z,59.25,mem,m,B,east
";

    #[test]
    fn the_documented_answer_is_read() {
        let rows = read(DOCUMENTED, &["_value", "host", "nothing"]).unwrap();
        let row = |value: &str, host: &str| vec![Some(value.to_owned()), Some(host.to_owned()), None];
        assert_eq!(rows, [row("15.43", "A"), row("59.25", "B")]);
    }

    #[test]
    fn tables_may_have_other_columns() {
        let text = ",result,table,a\r\n,,0,1\r\n\r\n,result,table,b\r\n,,1,\"x,\"\"y\"\"\nz\"\r\n\r\n";
        let rows = read(text, &["a", "b"]).unwrap();
        assert_eq!(rows, [vec![Some("1".into()), None], vec![None, Some("x,\"y\"\nz".into())]]);
    }

    #[test]
    fn an_error_in_the_form_of_a_table_is_one() {
        let text =
            "#datatype,string,string\n#group,true,true\n#default,,\n,error,reference\n,\"failed: out of memory\",897\n";
        let error = read(text, &[]).unwrap_err();
        assert_eq!((error.cause, error.message.as_str()), (iotbench_core::Cause::Server, "failed: out of memory"));
    }

    #[test]
    fn what_is_no_such_answer_is_refused() {
        for bad in ["{\"a\":1}\n", "a,\"b", "\"a\"b\n", ",a,b\n,1\n", ",a"] {
            assert_eq!(read(bad, &[]).unwrap_err().cause, iotbench_core::Cause::Protocol, "{bad:?}");
        }
    }

    #[test]
    fn a_record_of_very_many_fields_is_refused() {
        let (mut records, commas) = (Records::default(), vec![b','; 64 << 10]);
        let most = MAX_SHORT_BYTES / size_of::<String>();
        let taken = (0..).take_while(|_| records.push(&commas, &mut |_| Ok(())).is_ok()).count();
        assert!(taken * commas.len() <= most && records.record.len() <= most + 1, "{taken}");
    }

    proptest! {
        #[test]
        fn an_answer_may_come_in_any_pieces(cut in 0..DOCUMENTED.len()) {
            let (mut records, mut all) = (Records::default(), Vec::new());
            let mut take = |record: &Record| { all.push(record.clone()); Ok(()) };
            for piece in [&DOCUMENTED[..cut], &DOCUMENTED[cut..]] {
                records.push(piece.as_bytes(), &mut take).unwrap();
            }
            prop_assert_eq!(all.len(), 6);
            prop_assert!(all.iter().all(|record| record.len() == 11));
        }

        #[test]
        fn any_text_comes_back(text in any::<String>()) {
            let (mut records, mut back) = (Records::default(), String::new());
            let line = format!(",\"{}\"\n", text.replace('"', "\"\""));
            records.push(line.as_bytes(), &mut |record| { back.clone_from(&record[1]); Ok(()) }).unwrap();
            prop_assert_eq!(back, text);
        }
    }
}
