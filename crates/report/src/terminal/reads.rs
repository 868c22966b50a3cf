//! What was read, and how fresh it was.

use super::{
    figure::{count, duration, figure_of},
    table::paragraph,
};
use crate::document::{Answers, Document, Freshness};

/// `312 answers, 112 compared with the truth (sample), all of them right. The server worked them out. …`
pub(super) fn answers(document: &Document, columns: u16) -> Option<String> {
    let answers = document.answers.as_ref()?;
    let text = format!("{}{} {}{}", cycles(answers), compared(answers), worked_out(answers), first_rows(answers));
    let examples = answers.examples.iter().map(|example| format!("- {example}"));
    let freshness = document.freshness.as_ref().map(freshness);
    let paragraphs = std::iter::once(text).chain(examples).chain(freshness);
    let shown = paragraphs.map(|text| format!("\n{}", paragraph(&text, columns)));
    Some(format!("Answers{}", shown.collect::<String>()))
}

fn cycles(answers: &Answers) -> String {
    answers.cycles.as_ref().map_or(String::new(), |cycles| {
        let (found, not_found) = (count(cycles.found), count(cycles.not_found));
        let (right, wrong) = (count(cycles.right), count(cycles.wrong));
        format!("{found} machine cycles found, {not_found} not found; of those compared {right} right, {wrong} wrong. ")
    })
}

fn compared(answers: &Answers) -> String {
    let compared = answers.right + answers.wrong;
    let found = match (compared, answers.wrong) {
        (0, _) => String::new(),
        (_, 0) => ", all of them right".into(),
        (_, wrong) => format!(", {} of them WRONG", count(wrong)),
    };
    let unjudged = match answers.not_judged {
        0 => String::new(),
        n => format!("; {} cannot be judged, because datapoints were written meanwhile", count(n)),
    };
    let skipped = match answers.skipped {
        0 => String::new(),
        n => format!("; {} were chosen and not compared, because the comparison was behind", count(n)),
    };
    let (all, compared, mode) = (count(answers.requests), count(compared), &answers.mode);
    let changed = match (answers.changes, count(answers.rows_changed)) {
        (0, _) => String::new(),
        (changes, rows) => format!(" ({} of statements that write, which changed {rows} rows)", count(changes)),
    };
    format!("{all} answers{changed}, {compared} compared with the truth ({mode}){found}{unjudged}{skipped}.")
}

fn worked_out(answers: &Answers) -> String {
    match (answers.requests, answers.computed_by_client) {
        (_, 0) => "The server worked them out.".into(),
        (all, n) if all == n => "The client worked them out from more rows than it was asked for.".into(),
        (_, n) => format!("The client worked {} of them out from more rows than it was asked for.", count(n)),
    }
}

fn first_rows(answers: &Answers) -> String {
    answers.first_rows_us.map_or(String::new(), |us| format!(" First rows after {} in the mean.", duration(us)))
}

fn freshness(freshness: &Freshness) -> String {
    let lag = &freshness.lag;
    let quantiles = ["p50", "p90", "p99", "max"].map(|name| format!("{name} {}", figure_of(lag, name)));
    let unseen = match freshness.unseen {
        0 => String::new(),
        n => format!("; {} were not seen in time", count(n)),
    };
    let (count, quantiles) = (count(lag.count + freshness.unseen), quantiles.join(", "));
    format!("Freshness, from acknowledged to seen: {quantiles} over {count} datapoints{unseen}.")
}
