//! Answers as rows, and when two of them agree.

use crate::{
    data::Owned,
    percentile::{percentile_in, same_percentiles},
    subject::{Check, Failure, ensure},
};
use iotbench_core::{
    Aggregate, CHUNK_ROWS, Capabilities, Cause, Chunk, Consecutive, Domain, Error, Layout, Query, Schema, ValueType,
};
use std::{cmp::Reverse, num::NonZeroU64};

/// The greatest relative error of a figure.
const FIGURE_ERROR: f64 = 1e-9;
/// The greatest error of a figure over `f32` in JSON, relative to the greatest number stored: a database that works it
/// out sees the shortest decimal form of each.
const DECIMAL_ERROR: f64 = f32::EPSILON as f64;

/// One row of an answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) device: u32,
    pub(crate) timestamp_ns: i64,
    pub(crate) values: Vec<Option<Owned>>,
}

/// The rows of an answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Rows(pub(crate) Vec<Row>);

impl Rows {
    pub(crate) fn len(&self) -> u64 {
        self.0.len() as u64
    }

    /// Takes the rows of a chunk, which must be a proper one.
    pub(crate) fn take(&mut self, chunk: &Chunk) -> Result<(), Error> {
        let improper = |message: &str| Err(Error::new(Cause::Protocol, message));
        if chunk.is_empty() || chunk.len() > CHUNK_ROWS {
            return improper("a chunk has at least one row and at most CHUNK_ROWS");
        }
        if chunk.devices.len() != chunk.len() {
            return improper("a chunk has as many devices as timestamps");
        }
        for row in 0..chunk.len() {
            self.0.push(Row {
                device: chunk.devices[row],
                timestamp_ns: chunk.timestamps_ns[row],
                values: chunk.columns.iter().map(|column| column.get(row).map(Owned::from)).collect(),
            });
        }
        Ok(())
    }
}

/// All that is stored, by the oracle.
#[derive(Debug)]
pub(crate) struct Everything {
    rows: Rows,
    /// The greatest magnitude of a number.
    greatest: f64,
}

impl From<Rows> for Everything {
    fn from(rows: Rows) -> Self {
        let values = rows.0.iter().flat_map(|row| row.values.iter().flatten());
        let numbers = values.filter_map(|value| value.value().as_f64());
        let greatest = numbers.fold(0.0, |greatest, number| number.abs().max(greatest));
        Self { rows, greatest }
    }
}

/// How exactly answers must agree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exactness<'a> {
    capabilities: &'a Capabilities,
    figures_are_decimal: bool,
}

impl<'a> Exactness<'a> {
    pub(crate) fn new(capabilities: &'a Capabilities, layout: Layout, schema: &Schema) -> Self {
        let is_json = matches!(layout, Layout::Document | Layout::Bulk);
        let has_f32 = schema.signals().iter().any(|signal| signal.value_type == ValueType::F32);
        Self { capabilities, figures_are_decimal: is_json && has_f32 }
    }

    /// Whether the difference of two values agrees with the expected one: it may lose digits. `most`: the greatest that any may be.
    fn same_difference(&self, got: &Owned, expected: &Owned, most: f64) -> bool {
        self.same_figure(got, expected, most) || got.is_within(expected, FIGURE_ERROR * most)
    }

    /// Whether a figure over what is stored agrees with the expected one. `greatest`: the greatest that such a figure may be.
    fn same_figure(&self, got: &Owned, expected: &Owned, greatest: f64) -> bool {
        got.is_near(expected, FIGURE_ERROR)
            || self.figures_are_decimal && got.is_within(expected, DECIMAL_ERROR * greatest)
    }
}

/// By what a difference is multiplied at most where it is one in so much time.
#[expect(clippy::cast_precision_loss, reason = "how near two floats are is told by a float")]
fn factor(per_ns: Option<NonZeroU64>, everything: &Rows) -> f64 {
    let pairs = everything.0.windows(2).filter(|pair| pair[0].device == pair[1].device);
    let apart_ns = pairs.map(|pair| pair[1].timestamp_ns.abs_diff(pair[0].timestamp_ns));
    let nearest_ns = apart_ns.filter(|&apart_ns| apart_ns > 0).min().unwrap_or(1);
    per_ns.map_or(1.0, |per_ns| per_ns.get() as f64 / nearest_ns as f64)
}

/// Holds the rows of an answer against those of the oracle.
pub(crate) fn agree(
    query: &Query,
    got: &Rows,
    expected: &Rows,
    everything: &Everything,
    exactness: Exactness<'_>,
) -> Check {
    let Everything { rows: everything, greatest } = everything;
    let greatest = *greatest;
    let greatest_difference = match query {
        Query::Consecutive { what: Consecutive::Differences { per_ns }, .. } => {
            2.0 * greatest * factor(*per_ns, everything)
        }
        Query::Consecutive { what: Consecutive::TimeWeightedMean, .. } => greatest,
        _ => 0.0,
    };
    let same_value = |got: &Option<Owned>, expected: &Option<Owned>| match (got, expected) {
        (Some(got), Some(expected)) => match query {
            Query::Aggregates { aggregates, .. }
            | Query::Buckets { aggregates, .. }
            | Query::TotalBuckets { aggregates, .. }
            | Query::TagFigures { aggregates, .. } => {
                exactness.same_figure(got, expected, greatest * terms(aggregates, everything))
            }
            Query::Having { of, .. } if !matches!(**of, Query::LastPoints { .. }) => {
                exactness.same_figure(got, expected, greatest * everything.len() as f64)
            }
            Query::Consecutive { what: Consecutive::Gaps { .. }, .. } => got.is_identical(expected),
            Query::Rollup { .. } => exactness.same_figure(got, expected, greatest * everything.len() as f64),
            Query::Where { of, .. } => {
                exactness.same_figure(got, expected, greatest.max(1.0) * terms_of(of, everything))
            }
            Query::Filled { of, .. } if let Query::Buckets { aggregates, .. } = &**of => {
                exactness.same_figure(got, expected, greatest * terms(aggregates, everything))
            }
            Query::Consecutive { .. } => exactness.same_difference(got, expected, greatest_difference),
            Query::MaxOfFirst { .. } => exactness.same_figure(got, expected, greatest),
            _ => same(got, expected, greatest, exactness.capabilities),
        },
        (got, expected) => got.is_none() && expected.is_none(),
    };
    let same_row = |got: &Row, expected: &Row| {
        (got.device, got.timestamp_ns, got.values.len())
            == (expected.device, expected.timestamp_ns, expected.values.len())
            && got.values.iter().zip(&expected.values).all(|(got, expected)| same_value(got, expected))
    };
    ensure(got.len() == expected.len(), || format!("{} rows and not {}", got.len(), expected.len()))?;
    if let Query::Newest { .. } | Query::LastPoints { .. } = query {
        return agree_newest(query, got, expected, everything, same_row);
    }
    if let Query::TopDevices { aggregate, .. } = query {
        let most = greatest * terms(&[*aggregate], everything);
        let is_near = |got: &Owned, expected: &Owned| exactness.same_figure(got, expected, most);
        return agree_top(got, expected, is_exact(*aggregate, exactness.capabilities), is_near);
    }
    for (place, (got, expected)) in got.0.iter().zip(&expected.0).enumerate() {
        let agrees = match percentile_in(query, place) {
            Some(percentile) => {
                let bounds = |column| percentile.bounds(expected, column, everything);
                let is_near = |got: &Owned, expected: &Owned| exactness.same_figure(got, expected, greatest);
                same_percentiles(got, expected, bounds, is_near)
            }
            None => same_row(got, expected),
        };
        ensure(agrees, || format!("row {place} is {got:?} and not {expected:?}"))?;
    }
    Ok(())
}

/// How many values the figures of a query may be the sum of.
fn terms_of(query: &Query, everything: &Rows) -> f64 {
    match query {
        Query::Aggregates { aggregates, .. }
        | Query::Buckets { aggregates, .. }
        | Query::TotalBuckets { aggregates, .. }
        | Query::TagFigures { aggregates, .. } => terms(aggregates, everything),
        _ => 1.0,
    }
}

/// How many values a figure may be the sum of.
#[expect(clippy::cast_precision_loss, reason = "a test has few rows")]
fn terms(aggregates: &[Aggregate], everything: &Rows) -> f64 {
    if aggregates.contains(&Aggregate::Sum) { everything.len() as f64 } else { 1.0 }
}

/// Whether nothing rounds a figure, so that equal ones are told from others.
fn is_exact(aggregate: Aggregate, capabilities: &Capabilities) -> bool {
    let numbers = [ValueType::F32, ValueType::F64, ValueType::I64, ValueType::U16];
    let rounds =
        |&of: &ValueType| matches!((capabilities.domain)(of), Domain::Rounded { .. } | Domain::RoundedTogether { .. });
    match aggregate {
        Aggregate::Count => true,
        Aggregate::Min | Aggregate::Max => !numbers.iter().any(rounds),
        Aggregate::First | Aggregate::Last | Aggregate::Mean | Aggregate::Sum | Aggregate::Percentile(_) => false,
    }
}

/// The devices with the greatest figure agree when the figures do, place by place, and the devices; where arithmetic rounds, devices with
/// figures as near as that may change places, and so may the last one and one that is not there.
fn agree_top(got: &Rows, expected: &Rows, is_exact: bool, is_near: impl Fn(&Owned, &Owned) -> bool) -> Check {
    let is_near = |a: &Row, b: &Row| match (a.values.as_slice(), b.values.as_slice()) {
        ([Some(a)], [Some(b)]) => a.value_type() == ValueType::F64 && is_near(a, b),
        _ => false,
    };
    let last = expected.0.last();
    for (place, (row, wanted)) in got.0.iter().zip(&expected.0).enumerate() {
        let own = expected.0.iter().find(|other| other.device == row.device).or(last);
        let is_in_place = row.device == wanted.device || !is_exact;
        let is_right =
            row.timestamp_ns == 0 && is_in_place && is_near(row, wanted) && own.is_some_and(|own| is_near(row, own));
        ensure(is_right, || format!("row {place} is {row:?} and not {wanted:?}"))?;
        let before = &got.0[..place];
        ensure(before.iter().all(|other| other.device != row.device), || format!("row {place} is {row:?}, once more"))?;
    }
    Ok(())
}

/// The newest rows agree when their times do, and those of each device with their devices: of equal times any may stand first, and
/// any may be cut off.
fn agree_newest(
    query: &Query,
    got: &Rows,
    expected: &Rows,
    everything: &Rows,
    same_row: impl Fn(&Row, &Row) -> bool,
) -> Check {
    let of_each = matches!(query, Query::LastPoints { .. });
    let time = |row: &Row| (of_each.then_some(row.device), row.timestamp_ns);
    let times = |rows: &Rows| rows.0.iter().map(time).collect::<Vec<_>>();
    ensure(times(got) == times(expected), || "the newest rows have other times, or another order".into())?;
    let mut left: Vec<&Row> = everything.0.iter().collect();
    left.sort_by_key(|row| Reverse(row.timestamp_ns));
    for row in &got.0 {
        let place = left.iter().position(|stored| same_row(row, stored));
        let place = place.ok_or_else(|| Failure(format!("{row:?} is not stored, or was answered twice")))?;
        left.remove(place);
    }
    Ok(())
}

/// Whether a stored value came back. `greatest`: the greatest magnitude of all that is stored.
fn same(got: &Owned, expected: &Owned, greatest: f64, capabilities: &Capabilities) -> bool {
    match (capabilities.domain)(expected.value_type()) {
        Domain::Rounded { relative } => got.is_near(expected, relative),
        Domain::RoundedTogether { relative, of_greatest } => {
            let magnitude = expected.value().as_f64().unwrap_or_default().abs();
            got.is_within(expected, relative * magnitude + of_greatest * greatest)
        }
        Domain::Full
        | Domain::Integers { .. }
        | Domain::TextWithoutNul
        | Domain::TextNotEmpty
        | Domain::Unsupported => got.is_identical(expected),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::Devices;

    #[test]
    fn a_wrong_bit_is_seen() {
        assert!(!Owned::F32(0.0).is_identical(&Owned::F32(-0.0)));
        assert!(!Owned::F64(1.0).is_identical(&Owned::F64(1.0 + f64::EPSILON)));
        assert!(!Owned::U16(1).is_identical(&Owned::I64(1)));
        assert!(Owned::F64(1.0).is_near(&Owned::F64(1.0 + 1e-10), FIGURE_ERROR));
        assert!(!Owned::F64(1.0).is_near(&Owned::F64(1.0 + 1e-8), FIGURE_ERROR));
        assert!(!Owned::Text("a".into()).is_near(&Owned::Text("b".into()), 1.0));
    }

    #[test]
    fn an_improper_chunk_is_refused() {
        let mut rows = Rows::default();
        assert!(rows.take(&Chunk::new([])).is_err());
        let mut chunk = Chunk::new([]);
        chunk.timestamps_ns.push(0);
        assert!(rows.take(&chunk).is_err());
    }

    #[test]
    fn devices_with_near_figures_may_change_places_and_others_may_not() {
        let rows = |rows: &[(u32, f64)]| {
            let row = |&(device, figure)| Row { device, timestamp_ns: 0, values: vec![Some(Owned::F64(figure))] };
            Rows(rows.iter().map(row).collect())
        };
        let expected = rows(&[(0, 9.0), (1, 5.0), (2, 5.0 - 1e-12)]);
        let is_near = |a: &Owned, b: &Owned| a.is_near(b, FIGURE_ERROR);
        let agrees = |is_exact, got: [(u32, f64); 3]| agree_top(&rows(&got), &expected, is_exact, is_near).is_ok();
        for right in [[(0, 9.0), (1, 5.0), (2, 5.0)], [(0, 9.0), (2, 5.0), (1, 5.0)], [(0, 9.0), (1, 5.0), (3, 5.0)]] {
            assert!(agrees(false, right));
        }
        for wrong in [
            [(1, 9.0), (0, 5.0), (2, 5.0)],
            [(1, 5.0), (0, 9.0), (2, 5.0)],
            [(0, 9.0), (1, 5.0), (1, 5.0)],
            [(3, 9.0), (1, 5.0), (2, 5.0)],
        ] {
            assert!(!agrees(false, wrong));
        }
        assert!(agrees(true, [(0, 9.0), (1, 5.0), (2, 5.0)]) && !agrees(true, [(0, 9.0), (2, 5.0), (1, 5.0)]));
    }

    #[test]
    fn newest_rows_of_equal_time_may_change_places_but_not_repeat() {
        let row = |device, timestamp_ns| Row { device, timestamp_ns, values: vec![] };
        let everything = Rows(vec![row(0, 5), row(1, 5), row(0, 6), row(1, 6)]);
        let expected = Rows(vec![row(0, 6), row(1, 6), row(0, 5)]);
        let newest = Query::Newest { devices: Devices::All, limit: 3 };
        let is_accepted =
            |rows: Vec<Row>| agree_newest(&newest, &Rows(rows), &expected, &everything, |a, b| a == b).is_ok();
        assert!(is_accepted(vec![row(1, 6), row(0, 6), row(1, 5)]));
        assert!(!is_accepted(vec![row(1, 6), row(1, 6), row(1, 5)]));
        assert!(!is_accepted(vec![row(1, 5), row(0, 6), row(1, 6)]));
        let last = Query::LastPoints { devices: Devices::All };
        let expected = Rows(vec![row(0, 6), row(1, 6)]);
        let is_accepted =
            |rows: Vec<Row>| agree_newest(&last, &Rows(rows), &expected, &everything, |a, b| a == b).is_ok();
        assert!(is_accepted(vec![row(0, 6), row(1, 6)]));
        assert!(!is_accepted(vec![row(1, 6), row(0, 6)]), "they come by device");
    }
}
