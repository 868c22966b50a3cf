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
    // Those for other backends too: a slip in one is found by whichever is tried first.
    for (name, text) in config.statement.texts() {
        if let Err(e) = Statement::parse(text) {
            return error("statement", format!("that for {name}: {e}"));
        }
    }
    let layout = context.layout;
    if statement.names(Parameter::Signal) && layout != Layout::Wide {
        return error(
            "statement",
            format!("layout {layout} has no column of a signal: leave :signal out, or write wide"),
        );
    }
    let devices = devices::all(context.profile);
    if statement.names(Parameter::Device) && devices == 1 {
        return error("statement", "a table of one device has no column of it: leave :device out".into());
    }
    let has_figure = config.expect.figure.is_some();
    if has_figure && let Some(missing) = not_named(&statement, devices > 1, signals.len() > 1) {
        return error("statement", format!("its figure is of what {missing} stands for, which it does not name"));
    }
    let all = context.schema.signals();
    let is_number = |&id: &SignalId| all.get(usize::from(id)).is_some_and(|signal| signal.value_type.is_number());
    if has_figure && !signals.iter().all(is_number) {
        return error("signals", "a figure is expected, and not all of them are numbers: name those that are".into());
    }
    let expected = Expected { rows: config.expect.rows.map(|rows| rows.0), figure: config.expect.figure };
    Ok(OwnStatement { statement, signals, window_ns: config.window.as_ns(), expected })
}

/// The first parameter that the figure of an answer depends on and the statement does not name.
fn not_named(statement: &Statement, has_devices: bool, has_signals: bool) -> Option<&'static str> {
    // Whole seconds are another stretch than the one that the figure is of.
    [
        (has_devices, Parameter::Device, ":device"),
        (has_signals, Parameter::Signal, ":signal"),
        (true, Parameter::From, ":from"),
        (true, Parameter::To, ":to"),
    ]
    .into_iter()
    .find_map(|(is_needed, parameter, name)| (is_needed && !statement.names(parameter)).then_some(name))
}
