//! A statement that the user wrote, as meant.

use super::{Context, devices};
use crate::{profile::OperationConfig, units::Span};
use iotbench_core::{Aggregate, Devices, Language, Layout, Parameter, Query, SignalId, Statement, StatementCall};
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
    /// From one time of the answer to the next, where it asks for a course over the stretch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_ns: Option<u64>,
}

impl OwnStatement {
    /// The statement with what was drawn, which is what it is held against.
    pub(crate) fn call<'a>(&'a self, drawn: &Query) -> Option<StatementCall<'a>> {
        let Query::Aggregates { devices: Devices::Some(devices), signals, range, .. } = drawn else { return None };
        let (Bound::Included(from_ns), Bound::Excluded(to_ns)) = (range.from, range.to) else { return None };
        let (device, signal) = (*devices.first()?, *signals.first()?);
        Some(StatementCall { statement: &self.statement, device, signal, from_ns, to_ns, step_ns: self.step_ns })
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
    let Some(language) = info.statements else {
        return error(
            "kind",
            format!("{} takes no statements of your own: `iotbench backends` says which do", info.name),
        );
    };
    if config.writes && !info.statements_write {
        return error("writes", format!("{} takes only statements that read: leave it out", info.name));
    }
    let statement = parsed(context, config, language).map_err(|message| ("statement".to_owned(), message))?;
    let step_ns = config.width.set().map(Span::as_ns);
    if step_ns == Some(0) || (step_ns.is_some() && language != Language::MetricsQl) {
        let message = "only a range query of MetricsQL goes by it, with times longer than 0 apart: leave it out";
        return error("width", message.into());
    }
    check_expected(context, config, &statement, &signals)?;
    let expected = Expected { rows: config.expect.rows.map(|rows| rows.0), figure: config.expect.figure };
    Ok(OwnStatement { statement, signals, window_ns: config.window.as_ns(), expected, step_ns })
}

/// The statement for the backend, which names nothing that its table does not have.
fn parsed(context: Context<'_>, config: &OperationConfig, language: Language) -> Result<Statement, String> {
    let name = context.backend.info().name;
    let Some(text) = config.statement.of(name) else {
        let known = config.statement.backends().collect::<Vec<_>>().join(", ");
        let known = if known.is_empty() { "none".into() } else { known };
        return Err(format!("there is none for {name}: there is {known}"));
    };
    let statement = Statement::parse(text, language, config.writes).map_err(|e| e.to_string())?;
    context.backend.check_statement(&statement)?;
    // Those for other backends too, in whatever language: a slip in one is found by whichever is tried first.
    for (name, text) in config.statement.texts() {
        let is_in = |language| Statement::parse(text, language, config.writes).is_ok();
        if let Some(e) = Statement::parse(text, Language::Sql, config.writes).err()
            && !Language::ALL.into_iter().any(is_in)
        {
            return Err(format!("that for {name}: {e}"));
        }
    }
    let layout = context.layout;
    let has_names = match language {
        Language::Commands => matches!(layout, Layout::Wide | Layout::Document),
        Language::Sql | Language::InfluxQl | Language::MetricsQl => layout == Layout::Wide,
    };
    if statement.names(Parameter::Signal) && !has_names {
        return Err(format!("layout {layout} has no column of a signal: leave :signal out, or write wide"));
    }
    if statement.names(Parameter::Device) && devices::all(context.profile) == 1 {
        return Err("a table of one device has no column of it: leave :device out".into());
    }
    Ok(statement)
}

/// Whether an answer can be held against what is expected of it.
fn check_expected(
    context: Context<'_>,
    config: &OperationConfig,
    statement: &Statement,
    signals: &[SignalId],
) -> Result<(), FieldError> {
    let error = |key: &str, message: String| Err((key.to_owned(), message));
    if config.expect.figure.is_none() {
        return Ok(());
    }
    if config.writes {
        return error("expect", "what is changed has no figure: expect rows, so many as it changes".into());
    }
    if config.width.set().is_some() {
        return error("width", "a range query has many figures, and one is expected: leave it out".into());
    }
    if let Some(missing) = not_named(statement, devices::all(context.profile) > 1, signals.len() > 1) {
        return error("statement", format!("its figure is of what {missing} stands for, which it does not name"));
    }
    let all = context.schema.signals();
    let is_number = |&id: &SignalId| all.get(usize::from(id)).is_some_and(|signal| signal.value_type.is_number());
    if !signals.iter().all(is_number) {
        return error("signals", "a figure is expected, and not all of them are numbers: name those that are".into());
    }
    Ok(())
}

/// The first parameter that the figure of an answer depends on and the statement does not name.
fn not_named(statement: &Statement, has_devices: bool, has_signals: bool) -> Option<&'static str> {
    // A query of MetricsQL is asked at the window's end, and looks back from there.
    let looks_back = statement.language() == Language::MetricsQl;
    // Whole seconds are another stretch than the one that the figure is of.
    [
        (has_devices, Parameter::Device, ":device"),
        (has_signals, Parameter::Signal, ":signal"),
        (!looks_back, Parameter::From, ":from"),
        (!looks_back, Parameter::To, ":to"),
        (looks_back, Parameter::Window, ":window"),
    ]
    .into_iter()
    .find_map(|(is_needed, parameter, name)| (is_needed && !statement.names(parameter)).then_some(name))
}
