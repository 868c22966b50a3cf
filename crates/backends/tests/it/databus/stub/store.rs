//! The tables: registering them, and their rows.

use super::decimal::Decimal;
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// A status that is no success, and its text.
#[derive(Debug)]
pub struct Refusal(pub u16, pub String);

impl Refusal {
    pub fn new(status: u16, text: &str) -> Self {
        Self(status, text.to_owned())
    }
}

/// A value.
#[derive(Clone, Debug)]
pub enum Cell {
    Decimal(Decimal),
    Text(String),
}

/// A table whose key is a time in milliseconds.
#[derive(Debug)]
pub struct Table {
    /// The columns but the time: their names, and whether they hold decimals.
    pub columns: BTreeMap<String, bool>,
    pub rows: BTreeMap<i64, Arc<BTreeMap<String, Cell>>>,
}

#[derive(Debug, Default)]
pub struct Store {
    pub tables: BTreeMap<String, Table>,
}

impl Store {
    pub fn register(&mut self, body: &Value) -> Result<String, Refusal> {
        let bad = |text: &str| Refusal::new(400, text);
        let name = body["modelName"].as_str().ok_or_else(|| bad("model name was null and is required"))?;
        let is_stream = match body["datasetType"].as_str() {
            Some("STREAM" | "TIME_SERIES") => true,
            Some("RELATIONAL_TIME_SERIES") => false,
            _ => return Err(bad("only supporting type of STREAM or RELATIONAL_TABLE or TIME_SERIES right now")),
        };
        if body["schema"].as_str().is_none() {
            return Err(bad("Missing the schema attribute which is required"));
        }
        if !is_name(name) {
            return Err(bad("modelName is invalid, it much match regular expression=[a-zA-Z_][a-zA-Z_0-9]*"));
        }
        let columns = columns(body)?;
        if is_stream && columns != BTreeMap::from([("value".to_owned(), true)]) {
            return Err(bad(
                "When registering a STREAM the only columns allowed are 'time' of type 'BigInteger' and 'value' of type 'BigDecimal'",
            ));
        }
        if self.tables.contains_key(name) {
            return Err(bad(&format!("Sorry, table with tablename='{name}' is already in use")));
        }
        self.tables.insert(name.to_owned(), Table { columns, rows: BTreeMap::new() });
        Ok(json!({ "modelName": name, "groups": [] }).to_string())
    }

    /// All rows, or none of them.
    pub fn post(&mut self, body: &Value) -> Result<(), Refusal> {
        let single = [body.clone()];
        let rows = body["_dataset"].as_array().map_or(&single[..], Vec::as_slice);
        let mut keys = BTreeSet::new();
        let mut read = Vec::new();
        for row in rows {
            let name = row["_tableName"].as_str().unwrap_or("null");
            let table = self.tables.get(name);
            let table = table.ok_or_else(|| Refusal::new(401, &format!("user=me has no access to table={name}")))?;
            let time: i64 = text_of(row, "time")?.parse().map_err(|e| Refusal::new(400, &format!("{e}")))?;
            if !keys.insert((name, time)) {
                let text = format!(
                    "Your post contains two rows with the same key and table name.  key={time} tablename={name}"
                );
                return Err(Refusal::new(400, &text));
            }
            if row.to_string().len() > 5000 {
                return Err(Refusal::new(
                    400,
                    "You have a single data point in your batch that is larger than 5000 characters",
                ));
            }
            read.push((name.to_owned(), time, table.cells(row)?));
        }
        for (name, time, cells) in read {
            if let Some(table) = self.tables.get_mut(&name) {
                table.rows.insert(time, Arc::new(cells));
            }
        }
        Ok(())
    }

    pub fn table(&self, name: &str) -> Result<&Table, Refusal> {
        self.tables
            .get(name)
            .ok_or_else(|| Refusal::new(404, &format!("<h1>Not found</h1><p>table does not exist={name}</p>")))
    }

    pub fn delete_table(&mut self, name: &str) -> Result<(), Refusal> {
        let refusal = || {
            let text = format!("Either table does not exist OR you are unauthorized to use this table={name}");
            Refusal::new(401, &text)
        };
        self.tables.remove(name).map(drop).ok_or_else(refusal)
    }

    pub fn delete_range(&mut self, name: &str, from: i64, to: i64) -> Result<(), Refusal> {
        let table = self.tables.get_mut(name).ok_or_else(|| Refusal::new(500, "java.lang.NullPointerException"))?;
        table.rows.retain(|time, _| !(from..=to).contains(time));
        Ok(())
    }
}

impl Table {
    fn cells(&self, row: &Value) -> Result<BTreeMap<String, Cell>, Refusal> {
        let cell = |(name, &is_decimal): (&String, &bool)| {
            let text = text_of(row, name)?;
            let cell = match is_decimal {
                true => Cell::Decimal(text.parse().map_err(|e: String| Refusal::new(500, &e))?),
                false => Cell::Text(text),
            };
            Ok((name.clone(), cell))
        };
        self.columns.iter().map(cell).collect()
    }
}

/// A value of a row as text: the server takes numbers and texts alike.
fn text_of(row: &Value, column: &str) -> Result<String, Refusal> {
    match &row[column] {
        Value::String(text) if !text.is_empty() => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        _ => {
            let text = format!(
                "The table you are inserting requires column='{column}' to be set and is not found in json request"
            );
            Err(Refusal::new(400, &text))
        }
    }
}

/// The columns but the key, which must be a time.
fn columns(body: &Value) -> Result<BTreeMap<String, bool>, Refusal> {
    let mut columns = BTreeMap::new();
    let mut keys = Vec::new();
    for column in body["columns"].as_array().into_iter().flatten() {
        let (name, kind) = (column["name"].as_str().unwrap_or(""), column["dataType"].as_str().unwrap_or(""));
        let is_decimal = match kind.to_ascii_lowercase().as_str() {
            "bigdecimal" | "biginteger" => true,
            "string" => false,
            _ => return Err(Refusal::new(400, &format!("the type {kind} is unknown"))),
        };
        if !is_name(name) {
            return Err(Refusal::new(
                400,
                &format!("col name={name} is not valid.  must match regex=[a-zA-Z_][a-zA-Z_0-9]*"),
            ));
        }
        if column["isPrimaryKey"] == json!(true) {
            keys.push(name);
        } else {
            columns.insert(name.to_owned(), is_decimal);
        }
    }
    if keys != ["time"] {
        return Err(Refusal::new(400, "a table has one key, the time"));
    }
    Ok(columns)
}

fn is_name(text: &str) -> bool {
    let is_letter = |b: u8| b.is_ascii_alphabetic() || b == b'_';
    text.bytes().next().is_some_and(is_letter) && text.bytes().all(|b| is_letter(b) || b.is_ascii_digit())
}
