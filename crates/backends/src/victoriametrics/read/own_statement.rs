//! Queries that a user wrote, of MetricsQL: asked at the end of the window, or at times over it. The server adds the condition that a
//! series is the run's to every selector (`extra_filters`), whatever the query says.

use super::VictoriaReader;
use crate::victoriametrics::{
    client::{Rows, Steps, window_text},
    series::{ALL, count, quoted},
};
use iotbench_backend_kit::{
    answer::NOTHING,
    line_protocol::device_digits,
    millis::{Millis, NS_PER_MS},
    span::Span,
    statement::StatementAnswer,
};
use iotbench_core::{Error, Parameter, Piece, Reply, Sink, StatementCall, TableSpec};
use std::sync::Arc;

const MS_OF_SECOND: i64 = 1000;

impl VictoriaReader {
    pub(super) async fn answer_statement(
        &mut self,
        call: &StatementCall<'_>,
        sink: &mut dyn Sink,
    ) -> Result<Reply, Error> {
        let span = Span { first: call.from_ns, last: call.to_ns.saturating_sub(1) };
        let Some(span) = ALL.within(span) else { return Ok(NOTHING) };
        let (table, own) = (Arc::clone(&self.table), self.own.selector());
        let query = spelled(call, &table, &own, span);
        let step_ms = call.step_ns.map(|ns| i64::try_from(ns).unwrap_or(i64::MAX).div_euclid(NS_PER_MS).max(1));
        let (rows, bytes) = self.client.rows(&query, &own, span, step_ms).await?;
        let mut answer = StatementAnswer::new(call, sink);
        match rows {
            Rows::Figures(figures) => figures.iter().try_for_each(|figure| answer.row(Some(figure.number()?), 0))?,
            Rows::Steps(series) => {
                for figure in series.iter().flat_map(Steps::figures) {
                    answer.row(Some(figure?.1), 0)?;
                }
            }
            Rows::One(number) => answer.row(number, 0)?,
        }
        answer.finish_of(bytes)
    }
}

/// The query with all parameters in their places.
fn spelled(call: &StatementCall<'_>, table: &TableSpec, own: &str, span: Millis) -> String {
    let mut query = String::new();
    for piece in call.statement.pieces() {
        match piece {
            Piece::Text(text) => query.push_str(text),
            Piece::Parameter(parameter) => query.push_str(&match parameter {
                Parameter::Table => own.to_owned(),
                Parameter::Device => quoted(&format!("{:0width$}", call.device, width = device_digits(table))),
                Parameter::Signal => metric(table, call),
                Parameter::From => seconds(span.first),
                Parameter::To => seconds(span.last),
                Parameter::FromSecond => span.first.div_euclid(MS_OF_SECOND).to_string(),
                Parameter::ToSecond => span.last.div_euclid(MS_OF_SECOND).to_string(),
                Parameter::Window => window_text(count(span)).trim_matches(['[', ']']).to_owned(),
            }),
        }
    }
    query
}

/// The name of the signal's series: what no name may hold is escaped, as MetricsQL has it.
fn metric(table: &TableSpec, call: &StatementCall<'_>) -> String {
    let signal = table.schema.signals().get(usize::from(call.signal)).map_or("", |signal| &*signal.name);
    let mut name = String::new();
    for c in format!("{}_{signal}", table.name).chars() {
        if !c.is_ascii_alphanumeric() && c != '_' {
            name.push('\\');
        }
        name.push(c);
    }
    name
}

fn seconds(ms: i64) -> String {
    format!("{}.{:03}", ms.div_euclid(MS_OF_SECOND), ms.rem_euclid(MS_OF_SECOND))
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::{Language, Layout, Marker, Name, Schema, Signal, Statement, ValueType};

    #[test]
    fn parameters_are_names_texts_and_times() {
        let signal = Signal { name: "a_b".into(), value_type: ValueType::F64, max_text_bytes: 0 };
        let table = TableSpec {
            name: Name::new("t").unwrap(),
            layout: Layout::Wide,
            schema: Schema::new(vec![signal]).unwrap(),
            devices: 20,
            marker: Marker { run_id: "r".into(), fingerprint: "f".into() },
        };
        let text = "avg_over_time(:signal{device=:device}[:window]) + count(:table @ :to) > :from_s # :x";
        let statement = Statement::parse(text, Language::MetricsQl, false).unwrap();
        let (from_ns, to_ns) = (1_700_000_000_000_000_001, 1_700_000_002_000_000_000);
        let call = StatementCall { statement: &statement, device: 7, signal: 0, from_ns, to_ns, step_ns: None };
        let span = ALL.within(Span { first: from_ns, last: to_ns - 1 }).unwrap();
        assert_eq!(
            spelled(&call, &table, "{own=\"t\"}", span),
            "avg_over_time(t_a_b{device=\"07\"}[1999.5ms]) + count({own=\"t\"} @ 1700000001.999) > 1700000000 # :x"
        );
    }
}
