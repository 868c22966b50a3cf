//! A statement that the user wrote, as meant.

use super::{Context, devices};
use crate::profile::OperationConfig;
use iotbench_core::{Aggregate, Devices, Layout, Parameter, Query, SignalId, Statement, StatementCall};
use serde::{Deserialize, Serialize};
use std::ops::Bound;

type FieldError = (String, String);

/// A statement in the database's own language. Device, signal and stretch of time are drawn for each request, from the seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OwnStatement {
    /// What was written.
    pub statement: Statement,
    /// The signals of which one is drawn, ascending.
    pub signals: Vec<SignalId>,
    /// The length of the stretch.
    pub window_ns: u64,
    /// What its answer has to be.
    pub expected: Expected,
}

impl OwnStatement {
    /// The statement with what was drawn, which is what it is held against.
    pub(crate) fn call<'a>(&'a self, drawn: &Query) -> Option<StatementCall<'a>> {
        let Query::Aggregates { devices: Devices::Some(devices), signals, range, .. } = drawn else { return None };
        let (Bound::Included(from_ns), Bound::Excluded(to_ns)) = (range.from, range.to) else { return None };
        let (device, signal) = (*devices.first()?, *signals.first()?);
        Some(StatementCall { statement: &self.statement, device, signal, from_ns, to_ns })
    }
}

/// What the answer of a statement has to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expected {
    /// So many rows.
    pub rows: Option<u64>,
    /// This figure of the signal of the device over the stretch: the first number of the only row. Where there is no datapoint,
    /// no number, or a count of 0.
    pub figure: Option<Aggregate>,
}

impl Expected {
    /// Whether anything is.
    #[must_use]
    pub fn is_any(self) -> bool {
        self.rows.is_some() || self.figure.is_some()
    }
}

pub(super) fn own_statement(
    context: Context<'_>,
    config: &OperationConfig,
    signals: Vec<SignalId>,
) -> Result<OwnStatement, FieldError> {
    let error = |key: &str, message: String| Err((key.to_owned(), message));
    let info = context.backend.info();
    if info.statements.is_none() {
        return error(
            "kind",
            format!("{} takes no statements of your own: `iotbench backends` says which do", info.name),
        );
    }
    let Some(text) = config.statement.of(info.name) else {
        let known = config.statement.backends().collect::<Vec<_>>().join(", ");
        let known = if known.is_empty() { "none".into() } else { known };
        return error("statement", format!("there is none for {}: there is {known}", info.name));
    };
    let statement = match Statement::parse(text) {
        Ok(statement) => statement,
        Err(e) => return error("statement", e.to_string()),
    };
    if statement.names(Parameter::Signal) && context.layout != Layout::Wide {
        let layout = context.layout;
        return error(
            "statement",
            format!("layout {layout} has no column of a signal: leave :signal out, or write wide"),
        );
    }
    if statement.names(Parameter::Device) && devices::all(context.profile) == 1 {
        return error("statement", "a table of one device has no column of it: leave :device out".into());
    }
    let expected = Expected { rows: config.expect.rows.map(|rows| rows.0), figure: config.expect.figure };
    Ok(OwnStatement { statement, signals, window_ns: config.window.as_ns(), expected })
}
