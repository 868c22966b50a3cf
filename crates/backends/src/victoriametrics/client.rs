//! Asks VictoriaMetrics on a connection of its own.

use super::error;
use hyper::{
    Method, StatusCode,
    body::{Bytes, Incoming},
    http::response::Parts,
};
use iotbench_backend_kit::{
    http::{
        Connection, Content, Server,
        connection::{given_up, uri},
        date::now_s,
        limits::{MAX_REFUSAL_BYTES, MAX_SHORT_BYTES, MAX_WHOLE_BYTES},
    },
    millis::Millis,
};
use iotbench_core::{Applied, Cause, Error};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::{Deserialize, de::DeserializeOwned};
use std::{borrow::Cow, collections::BTreeMap, ops::ControlFlow, sync::Arc};

/// The most samples that the server puts into one line.
const LINE_SAMPLES: usize = 8192;

/// The fields of a form.
const FORM: Content = Content { media_type: Some("application/x-www-form-urlencoded"), gzip: false };

/// A connection for questions.
pub(crate) struct Client {
    server: Arc<Server>,
    /// `None` once an exchange was left in the middle.
    connection: Option<Connection>,
    line: Vec<u8>,
    now_s: Option<u64>,
}

/// Samples of one series, in the order of their times.
#[derive(Debug, Deserialize)]
pub(crate) struct Samples<'a> {
    #[serde(borrow)]
    pub(crate) metric: BTreeMap<Cow<'a, str>, Cow<'a, str>>,
    pub(crate) values: Vec<Option<f64>>,
    #[serde(rename = "timestamps")]
    pub(crate) times_ms: Vec<i64>,
}

/// One figure with its labels.
#[derive(Debug, Deserialize)]
pub(crate) struct Figure {
    pub(crate) metric: BTreeMap<String, String>,
    value: (f64, String),
}

impl Figure {
    /// A label; empty where there is none.
    pub(crate) fn label(&self, name: &str) -> &str {
        self.metric.get(name).map_or("", String::as_str)
    }

    /// The number.
    ///
    /// # Errors
    /// Protocol for a text that is none.
    pub(crate) fn number(&self) -> Result<f64, Error> {
        parsed(&self.value.1)
    }
}

/// The figures of one expression at several times, with their labels.
#[derive(Debug, Deserialize)]
pub(crate) struct Steps {
    pub(crate) metric: BTreeMap<String, String>,
    values: Vec<(f64, String)>,
}

impl Steps {
    /// The time in milliseconds, and the figure there.
    ///
    /// # Errors
    /// Protocol for a text that is no number.
    pub(crate) fn figures(&self) -> impl Iterator<Item = Result<(i64, f64), Error>> {
        self.values.iter().map(|(seconds, number)| {
            #[expect(clippy::cast_possible_truncation, reason = "milliseconds of a time before 2100")]
            let ms = (seconds * 1000.0).round() as i64;
            Ok((ms, parsed(number)?))
        })
    }
}

fn parsed(number: &str) -> Result<f64, Error> {
    number.parse().map_err(|_| improper(&format!("{number:?} stands where a number should")))
}

/// What a query of a user's own is answered with.
pub(crate) enum Rows {
    /// Of each series one figure.
    Figures(Vec<Figure>),
    /// Of each series some.
    Steps(Vec<Steps>),
    /// A number that is no series', or a text.
    One(Option<f64>),
}

#[derive(Deserialize)]
#[serde(tag = "resultType", content = "result", rename_all = "lowercase")]
enum OfAnyType {
    Vector(Vec<Figure>),
    Matrix(Vec<Steps>),
    Scalar((f64, String)),
    String((f64, String)),
}

#[derive(Deserialize)]
struct AnyAnswer {
    data: OfAnyType,
}

/// What questions about figures are answered with.
#[derive(Deserialize)]
struct Answer<T> {
    data: Data<T>,
}

#[derive(Deserialize)]
struct Data<T> {
    result: Vec<T>,
}

/// An answer that VictoriaMetrics does not give.
pub(crate) fn improper(message: &dyn std::fmt::Display) -> Error {
    Error::new(Cause::Protocol, format!("this is no answer of a VictoriaMetrics: {message}"))
}

/// A new connection with its first request behind it: the server closes one that asks for nothing in its first five
/// seconds, whatever its time-outs are.
pub(crate) async fn connect(server: &Server) -> Result<Connection, Error> {
    let mut connection = server.connect().await?;
    let health = uri(&format!("{}/health", server.base_path))?;
    let answered = async {
        let body = connection.ask(Method::GET, &health).await?.into_body();
        connection.short_body(body, MAX_REFUSAL_BYTES).await
    };
    answered.await.map_err(|e| e.applied(Applied::No))?;
    Ok(connection)
}

impl Client {
    pub(crate) async fn connect(server: &Arc<Server>) -> Result<Self, Error> {
        let connection = Some(connect(server).await?);
        Ok(Self { connection, server: Arc::clone(server), line: Vec::new(), now_s: None })
    }

    /// Posts a form and gives head and body of the answer; a status that is no success is an error.
    async fn post(
        &mut self,
        connection: &mut Connection,
        path: &str,
        content: Content,
        body: String,
    ) -> Result<(Parts, Incoming), (Error, bool)> {
        let lost = |e| (e, false);
        let uri = uri(&format!("{}{path}", self.server.base_path)).map_err(|e| (e, true))?;
        let response = connection.post(&uri, content, Bytes::from(body)).await.map_err(lost)?;
        let (head, body) = response.into_parts();
        if matches!(head.status, StatusCode::OK | StatusCode::NO_CONTENT) {
            return Ok((head, body));
        }
        let text = connection.short_body(body, MAX_REFUSAL_BYTES).await.map_err(lost)?;
        Err((error::of_status(head.status, &head.headers, &text), true))
    }

    /// Posts, and gives the whole of the answer.
    async fn exchange(&mut self, path: &str, content: Content, body: String) -> Result<Vec<u8>, Error> {
        let mut connection = self.connection.take().ok_or_else(given_up)?;
        match self.post(&mut connection, path, content, body).await {
            Ok((_, body)) => {
                let text = connection.short_body(body, MAX_WHOLE_BYTES).await?;
                self.connection = Some(connection);
                Ok(text)
            }
            Err((error, is_whole)) => {
                self.connection = is_whole.then_some(connection);
                Err(error)
            }
        }
    }

    /// Posts a form and gives the text of the answer.
    pub(crate) async fn form(&mut self, path: &str, fields: &[(&str, &str)]) -> Result<Vec<u8>, Error> {
        self.exchange(path, FORM, form(fields)).await
    }

    /// Stores one sample of a series with these labels, at the server's own time: an earlier one may be older than what
    /// it keeps, and we have no clock. It is visible a while later, or after a flush.
    pub(crate) async fn import(&mut self, labels: &BTreeMap<&str, &str>, value: u64) -> Result<(), Error> {
        self.server_time().await?;
        let now_s = self.now_s.ok_or_else(|| improper(&"it does not say its time"))?;
        let line = serde_json::json!({ "metric": labels, "values": [value], "timestamps": [now_s * 1000] });
        self.exchange("/api/v1/import", Content::default(), line.to_string()).await.map(drop)
    }

    /// The time that the server told with its last answer that told one, in Unix seconds.
    pub(crate) fn now_s(&self) -> Option<u64> {
        self.now_s
    }

    /// Has the server tell its time.
    async fn server_time(&mut self) -> Result<(), Error> {
        let mut connection = self.connection.take().ok_or_else(given_up)?;
        let response = connection.ask(Method::GET, &uri(&format!("{}/health", self.server.base_path))?).await?;
        let (head, body) = response.into_parts();
        connection.short_body(body, MAX_REFUSAL_BYTES).await?;
        self.connection = Some(connection);
        self.now_s = now_s(&head.headers);
        Ok(())
    }

    /// Makes what was acknowledged visible.
    pub(crate) async fn flush(&mut self) -> Result<(), Error> {
        self.form("/internal/force_flush", &[]).await.map(drop)
    }

    /// The figures of a MetricsQL expression at the end of a stretch of time, and the bytes of the answer.
    pub(crate) async fn figures(&mut self, expression: &str, span: Millis) -> Result<(Vec<Figure>, u64), Error> {
        let fields = [("query", expression), ("time", &time_text(span.last)), ("nocache", "1")];
        self.answer("/api/v1/query", &fields).await
    }

    /// The figures of an expression at the first of some times and every step after it up to the last one, and the bytes of the
    /// answer.
    pub(crate) async fn steps(
        &mut self,
        expression: &str,
        times: Millis,
        step_ms: i64,
    ) -> Result<(Vec<Steps>, u64), Error> {
        let (start, end, step) = (time_text(times.first), time_text(times.last), format!("{step_ms}ms"));
        // Without a cache the server leaves the times as they are.
        let fields = [("query", expression), ("start", &start), ("end", &end), ("step", &step), ("nocache", "1")];
        self.answer("/api/v1/query_range", &fields).await
    }

    /// What a query gives of the series that are chosen, and the bytes of the answer: at the end of a stretch of time, or every step
    /// from its beginning on.
    pub(crate) async fn rows(
        &mut self,
        query: &str,
        chosen: &str,
        span: Millis,
        step_ms: Option<i64>,
    ) -> Result<(Rows, u64), Error> {
        let (start, end) = (time_text(span.first), time_text(span.last));
        let step = step_ms.map(|ms| format!("{ms}ms"));
        let mut fields = vec![("query", query), ("extra_filters[]", chosen), ("nocache", "1")];
        let path = match &step {
            Some(step) => {
                fields.extend([("start", &*start), ("end", &*end), ("step", &**step)]);
                "/api/v1/query_range"
            }
            None => {
                fields.push(("time", &end));
                "/api/v1/query"
            }
        };
        let text = self.form(path, &fields).await?;
        let answer: AnyAnswer = serde_json::from_slice(&text).map_err(|e| improper(&e))?;
        let rows = match answer.data {
            OfAnyType::Vector(figures) => Rows::Figures(figures),
            OfAnyType::Matrix(series) => Rows::Steps(series),
            OfAnyType::Scalar((_, text)) | OfAnyType::String((_, text)) => Rows::One(text.parse().ok()),
        };
        Ok((rows, text.len() as u64))
    }

    /// The labels of all series that are chosen.
    pub(crate) async fn series(
        &mut self,
        selector: &str,
        span: Millis,
    ) -> Result<Vec<BTreeMap<String, String>>, Error> {
        #[derive(Deserialize)]
        struct Found {
            data: Vec<BTreeMap<String, String>>,
        }
        let fields = [("match[]", selector), ("start", &time_text(span.first)), ("end", &time_text(span.last))];
        let text = self.form("/api/v1/series", &fields).await?;
        let found: Found = serde_json::from_slice(&text).map_err(|e| improper(&e))?;
        Ok(found.data)
    }

    async fn answer<T: DeserializeOwned>(
        &mut self,
        path: &str,
        fields: &[(&str, &str)],
    ) -> Result<(Vec<T>, u64), Error> {
        let text = self.form(path, fields).await?;
        let answer: Answer<T> = serde_json::from_slice(&text).map_err(|e| improper(&e))?;
        Ok((answer.data.result, text.len() as u64))
    }

    /// Gives the samples of all series that are chosen to `take`, and perhaps those of the milliseconds before and after the stretch: the
    /// server passes over a series whose first sample is at the very end. Each series comes in one or more pieces, in the order of
    /// time; series come in any order. Returns the bytes of the answer, and whether it was read to its end: where
    /// `take` breaks off, the connection is given up and another one is opened.
    pub(crate) async fn export(
        &mut self,
        selector: &str,
        span: Millis,
        mut take: impl FnMut(Samples<'_>) -> Result<ControlFlow<()>, Error> + Send,
    ) -> Result<(u64, bool), Error> {
        let mut connection = self.connection.take().ok_or_else(given_up)?;
        let (start, end, rows) = (time_text(span.first - 1), time_text(span.last + 1), LINE_SAMPLES.to_string());
        let fields = [("match[]", selector), ("start", &start), ("end", &end), ("max_rows_per_line", &rows)];
        let mut body = match self.post(&mut connection, "/api/v1/export", FORM, form(&fields)).await {
            Ok((head, body)) => {
                self.now_s = now_s(&head.headers).or(self.now_s);
                body
            }
            Err((error, is_whole)) => {
                self.connection = is_whole.then_some(connection);
                return Err(error);
            }
        };
        let mut bytes = 0;
        self.line.clear();
        while let Some(piece) = connection.piece(&mut body).await? {
            bytes += piece.len() as u64;
            let mut rest = &piece[..];
            while let Some(end) = rest.iter().position(|&byte| byte == b'\n') {
                let flow = if self.line.is_empty() {
                    take(samples(&rest[..end])?)?
                } else {
                    self.line.extend_from_slice(&rest[..end]);
                    let flow = take(samples(&self.line)?)?;
                    self.line.clear();
                    flow
                };
                if flow.is_break() {
                    self.connection = Some(connect(&self.server).await?);
                    return Ok((bytes, false));
                }
                rest = &rest[end + 1..];
            }
            if self.line.len() + rest.len() > MAX_SHORT_BYTES {
                return Err(improper(&format!("a line of an export has more than {MAX_SHORT_BYTES} bytes")));
            }
            self.line.extend_from_slice(rest);
        }
        if !self.line.is_empty() {
            return Err(improper(&"an export ends in the middle of a line"));
        }
        self.connection = Some(connection);
        Ok((bytes, true))
    }
}

fn samples(line: &[u8]) -> Result<Samples<'_>, Error> {
    let samples: Samples<'_> = serde_json::from_slice(line).map_err(|e| improper(&e))?;
    if samples.values.len() != samples.times_ms.len() {
        return Err(improper(&"a series has not one time a value"));
    }
    Ok(samples)
}

fn form(fields: &[(&str, &str)]) -> String {
    let fields = fields.iter().map(|(key, value)| {
        format!("{}={}", utf8_percent_encode(key, NON_ALPHANUMERIC), utf8_percent_encode(value, NON_ALPHANUMERIC))
    });
    fields.collect::<Vec<_>>().join("&")
}

/// A time in seconds. The server makes a 64-bit float of it and cuts that to milliseconds: a part of one more is added,
/// so that no cut reaches the millisecond before.
fn time_text(ms: i64) -> String {
    format!("{}.{:03}3", ms.div_euclid(1000), ms.rem_euclid(1000))
}

/// A window of so many milliseconds. The server makes seconds of it and cuts those to milliseconds, by which 16191 ms would be 16190:
/// half of one more is added.
pub(crate) fn window_text(ms: i64) -> String {
    format!("[{ms}.5ms]")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the server works a duration out.
    #[test]
    fn a_window_is_cut_to_its_own_length() {
        #[expect(clippy::cast_possible_truncation, reason = "as the server cuts it")]
        let cut = |text: &str| (text.parse::<f64>().unwrap() * 1e-3 * 1000.0) as i64;
        for ms in (1..200_000).chain([86_400_000, 3_155_760_000_000]) {
            let text = window_text(ms);
            assert_eq!(cut(text.trim_start_matches('[').trim_end_matches("ms]")), ms, "{text}");
        }
        assert!((1..20_000).any(|ms| cut(&ms.to_string()) != ms), "without the half");
    }

    #[test]
    fn a_time_is_cut_to_its_own_millisecond() {
        for ms in [1, 999, 1000, 1_700_000_000_123, 1_700_000_000_999, 4_102_444_800_001] {
            let seconds: f64 = time_text(ms).parse().unwrap();
            #[expect(clippy::cast_possible_truncation, reason = "as the server cuts it")]
            let cut = (seconds * 1000.0) as i64;
            assert_eq!(cut, ms, "{}", time_text(ms));
        }
    }

    #[test]
    fn what_is_no_line_of_an_export_is_refused() {
        for bad in [
            "",
            "x",
            "{}",
            r#"{"metric":{},"values":[1],"timestamps":[]}"#,
            r#"{"metric":{},"values":["1"],"timestamps":[1]}"#,
        ] {
            assert_eq!(samples(bad.as_bytes()).unwrap_err().cause, Cause::Protocol, "{bad}");
        }
        let good = samples(br#"{"metric":{"a":"b\"c"},"values":[0.1,null],"timestamps":[1,2]}"#).unwrap();
        assert_eq!((good.metric["a"].as_ref(), good.values[1]), ("b\"c", None));
    }
}
