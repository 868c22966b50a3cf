//! Who is best, and how sure that is.

use super::{HtmlOptions, quantity::Scale, table::Table};
use crate::{
    contender::Field,
    ranking::render_ranking,
    reported_run::ReportedRun,
    score::upper_ends,
    standing::{Measure, Ranked, SPREAD_OF_SITTINGS, Standing},
    terminal::figure::{NONE, count, significant},
};
use iotbench_scoring::{Ranking, Table as Half};
use maud::{Markup, html};

const OPERATIONS_A_SECOND: &str = "operations/s";

pub(super) fn section(field: &Field<'_>, fields: usize) -> Markup {
    let standing = Standing::of(field);
    html! {
        section {
            h2 { "Ranking" @if fields > 1 { ": " (field_name(field)) } }
            @if let Some(answer) = answer(&standing, field) { p.answer { (answer) } }
            @if !standing.places.is_empty() {
                (table(&standing, field))
                p.note { (standing.method()) " Where intervals overlap, ranks do too." }
                @if standing.places.iter().any(|place| place.is_upper_end) {
                    p.note { "≤: the upper end of a range, because the client sent operations late." }
                }
            }
            @if !standing.unranked.is_empty() {
                p { "Not ranked:" }
                ul.reasons { @for (name, reason) in &standing.unranked { li { (name) " (" (reason) ")" } } }
            }
        }
    }
}

/// The profile, and where promises keep contenders apart, the promise.
pub(super) fn field_name(field: &Field<'_>) -> String {
    match &field.promise {
        None => field.profile.clone(),
        Some(promise) => format!("{}, an acknowledged write survives: {promise}", field.profile),
    }
}

/// A figure of the measure, with its unit.
struct Shown {
    scale: Option<Scale>,
    head: String,
}

impl Shown {
    fn of(standing: &Standing, quantity: &str) -> Self {
        let figures = || standing.places.iter().map(|place| place.estimate);
        let time = Scale::of_microseconds(figures());
        match standing.measure {
            Measure::Capacity => Self { scale: None, head: format!("sustained {quantity}") },
            Measure::Throughput => Self { scale: None, head: OPERATIONS_A_SECOND.into() },
            Measure::ResponseP99 => Self { scale: Some(time), head: format!("response p99, {}", time.name) },
            Measure::ResponseMean => Self { scale: Some(time), head: format!("mean response, {}", time.name) },
        }
    }

    fn figure(&self, figure: f64) -> String {
        self.scale.map_or_else(|| whole(figure), |scale| scale.show(Some(figure)))
    }

    /// The figure of a place; marked where it is an upper end.
    fn estimate(&self, place: &Ranked) -> String {
        let mark = if place.is_upper_end { "≤\u{a0}" } else { "" };
        format!("{mark}{}", self.figure(place.estimate))
    }

    fn range(&self, place: &Ranked) -> String {
        let Some(range) = place.range else { return NONE.into() };
        match range.high {
            Some(high) => format!("{} to {}", self.figure(range.low), self.figure(high)),
            None => format!("at least {}", self.figure(range.low)),
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a load is a count below 2³²")]
fn whole(load: f64) -> String {
    if load.fract() == 0.0 { count(load as u64) } else { significant(load) }
}

fn quantity<'a>(field: &Field<'a>) -> &'a str {
    let runs = field.contenders.iter().flat_map(|contender| contender.runs.iter().copied());
    runs.filter_map(|run| run.document.capacity.as_ref())
        .map(|capacity| capacity.quantity.as_str())
        .next()
        .unwrap_or("load")
}

fn table(standing: &Standing, field: &Field<'_>) -> Markup {
    let shown = Shown::of(standing, quantity(field));
    let most = standing.places.iter().map(|p| p.range.and_then(|r| r.high).unwrap_or(p.estimate).max(p.estimate));
    let most = most.fold(0.0, f64::max);
    html! {
        div.scroll tabindex="0" role="region" aria-label="Ranking" {
            table {
                thead { tr {
                    th.number scope="col" { "rank" }
                    th.word scope="col" { "contender" }
                    th.number scope="col" { (shown.head) }
                    th.number scope="col" { "interval" }
                    th.word scope="col" { "from 0 to " (shown.figure(most)) }
                    th.number scope="col" { "runs" }
                    th.word scope="col" { "a write survives" }
                } }
                tbody { @for place in &standing.places { tr {
                    td.number { (rank(place)) }
                    th.word scope="row" { (place.name) }
                    td.number { (shown.estimate(place)) }
                    td.number { (shown.range(place)) }
                    td.bar { (bar(place, most)) }
                    td.number { (place.runs) }
                    td.word { (place.promise) }
                } } }
            }
        }
    }
}

/// `1`, or `1 to 3` where the order is not sure.
fn rank(place: &Ranked) -> String {
    if place.best == place.worst { place.best.to_string() } else { format!("{} to {}", place.best, place.worst) }
}

/// The interval as a bar, from 0 on: lengths can be compared.
fn bar(place: &Ranked, most: f64) -> Markup {
    let at = |figure: f64| if most > 0.0 { (figure / most * 100.0).clamp(0.0, 100.0) } else { 0.0 };
    let range = place.range.map(|range| (at(range.low), range.high.map_or(100.0, at)));
    let point = at(place.estimate);
    html! {
        svg viewBox="0 0 100 14" preserveAspectRatio="none" aria-hidden="true" class=(format!("ink-{}", place.place % 8)) {
            line.track x1="0" x2="100" y1="7" y2="7" vector-effect="non-scaling-stroke" {}
            @if let Some((low, high)) = range {
                line.range x1=(low) x2=(high) y1="7" y2="7" vector-effect="non-scaling-stroke" {}
            }
            line.point x1=(point) x2=(point) y1="1" y2="13" vector-effect="non-scaling-stroke" {}
        }
    }
}

/// Who is first, by how much, and whether that is sure.
fn answer(standing: &Standing, field: &Field<'_>) -> Option<String> {
    let shown = Shown::of(standing, quantity(field));
    let unit = match (shown.scale, standing.measure) {
        (Some(scale), _) => scale.name,
        (None, Measure::Throughput) => OPERATIONS_A_SECOND,
        (None, _) => quantity(field),
    };
    let [first, others @ ..] = standing.places.as_slice() else { return None };
    let figure = format!("{} {unit}", shown.estimate(first));
    let interval = first.range.map(|_| format!(" (interval {})", shown.range(first))).unwrap_or_default();
    let does = match standing.measure {
        Measure::Capacity => "sustains the most",
        Measure::Throughput => "has the highest throughput",
        Measure::ResponseP99 => "has the lowest 99th percentile of the response time",
        Measure::ResponseMean => "has the lowest mean response time",
    };
    let Some(second) = others.first() else {
        return Some(format!("{} is alone: {figure}{interval}.", first.name));
    };
    let (a, b) = (first.estimate, second.estimate);
    let ratio = significant(if standing.measure.more_is_better() { a / b } else { b / a });
    let name = &first.name;
    if first.range.is_none() || others.iter().any(|other| other.range.is_none()) {
        return Some(format!(
            "{name} {does}: {figure}{interval}, {ratio} times better than {}. How sure that is cannot be told: not all have \
             an interval. Repeat the runs (--runs 5), or make them longer.",
            second.name
        ));
    }
    if !standing.places.iter().all(|place| standing.measure.tells(place)) {
        return Some(format!(
            "{name} {does} in these runs: {figure}, {ratio} times better than {}. That is no order: how far repetitions lie \
             apart is not known, because not all have several runs. Repeat them (--runs 5).",
            second.name
        ));
    }
    if standing.measure == Measure::Capacity && first.worst > 1 && !standing.is_of_sittings() {
        let lacking = standing.sittings_lacking();
        return Some(format!(
            "{lacking}: order not established. {name} sustained the most: {figure}{interval}, {ratio} times what {} \
             did, and sittings of one system may lie {SPREAD_OF_SITTINGS} times apart.",
            second.name
        ));
    }
    if first.worst > 1 {
        let equals: Vec<&str> = others.iter().filter(|o| o.best == 1).map(|o| o.name.as_str()).collect();
        let equals = if equals.is_empty() { second.name.clone() } else { equals.join(", ") };
        return Some(format!("{name} and {equals} cannot be told apart: {figure}{interval} for the first."));
    }
    let once = if standing.places.iter().any(|place| place.runs < 2) {
        " How far repetitions would lie apart is not known: not all have several runs."
    } else {
        ""
    };
    Some(format!("{name} {does}: {figure}{interval}, {ratio} times better than {}.{once}", second.name))
}

/// The weighted score, where it is about these runs.
pub(super) fn score(options: &HtmlOptions<'_>, runs: &[ReportedRun]) -> Markup {
    let Some(score) = &options.score else { return html! {} };
    let remarks = upper_ends(runs.iter().map(|run| &run.document));
    html! {
        section {
            h2 { "Weighted score" }
            @match score {
                Err(reason) => p { "No score: " (reason) },
                Ok(ranking) => {
                    (places(ranking).open("Weighted score"))
                    p.note { "Criteria and weights of the score " (ranking.score) "; 100 is the best possible." }
                    details.table {
                        summary { "How each score is worked out" }
                        pre { (render_ranking(ranking, &remarks, 100)) }
                    }
                }
            }
        }
    }
}

fn places(ranking: &Ranking) -> Table {
    let of = |half: &Option<Half>, name: &str| {
        half.as_ref()
            .and_then(|half| half.rows.iter().find(|row| row.contender == name))
            .map(|row| (row.score_pct, row.rank))
    };
    let mut rows: Vec<(usize, Vec<String>)> = ranking
        .contenders
        .iter()
        .map(|contender| {
            let total = ranking.total.iter().find(|t| t.contender == contender.name).map(|t| (t.total_pct, t.rank));
            let places = [total, of(&ranking.write, &contender.name), of(&ranking.read, &contender.name)];
            let rank = places.iter().flatten().map(|(_, rank)| *rank).next().unwrap_or(usize::MAX);
            let cells = places.into_iter().flat_map(|place| {
                place.map_or([NONE.into(), NONE.into()], |(pct, rank)| {
                    [rank.to_string(), format!("{:.1}", pct.max(0.0))]
                })
            });
            let promise = contender.promises.join(" / ");
            (rank, std::iter::once(contender.name.clone()).chain(cells).chain([promise]).collect())
        })
        .collect();
    rows.sort_by_key(|(rank, _)| *rank);
    let heads =
        ["contender", "total rank", "total %", "write rank", "write %", "read rank", "read %", "a write survives"];
    Table::new(&heads, rows.into_iter().map(|(_, cells)| cells).collect()).words(&[7])
}
