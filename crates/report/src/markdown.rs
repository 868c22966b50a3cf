//! Runs as Markdown that fits a comment on a pull request. Pure.

use crate::{
    contender::{Field, fields, target},
    cost::Cost,
    document::Document,
    html::command,
    iotps::{DISCLAIMER, IotPs},
    reported_run::ReportedRun,
    standing::{Measure, SPREAD_OF_SITTINGS, Standing},
    terminal::{
        answer::sentence,
        figure::{TIE, bytes, count, duration, figure_of, or_none, significant},
        machine,
    },
};

/// The runs as Markdown of GitHub's kind: verdict and answer first, then the order of contenders, the figures, the cost, and
/// folded, how each was made. No text of a run is markup, mentions anybody or refers to an issue.
#[must_use]
pub fn render_markdown(runs: &[ReportedRun], costs: &[Cost], across_durability: bool) -> String {
    let documents: Vec<Document> =
        runs.iter().map(|run| run.document.printable().unwrap_or_else(|_| run.document.clone())).collect();
    let mut sections: Vec<String> = documents.iter().map(verdict).collect();
    let fields = fields(runs, across_durability);
    sections.extend(fields.iter().filter(|field| field.contenders.len() > 1).map(order));
    sections.push(figures(&documents));
    let prices: Vec<_> = costs.iter().filter_map(|cost| Some(cost.price.as_ref()?.system.clone())).collect();
    sections.extend(IotPs::of(&documents, &prices).iter().map(in_words_of_tpcx_iot));
    sections.push(cost_table(costs));
    sections.extend(documents.iter().map(setting));
    sections.join("\n\n").replace(TIE, " ") + "\n"
}

fn verdict(document: &Document) -> String {
    let verdict = &document.verdict;
    let reasons: String = verdict.reasons.iter().map(|reason| format!("\n- {}", plain(reason))).collect();
    let title = format!("{} on {}", document.profile_title(), target(document));
    let name = document.verdict_words().to_uppercase();
    let probes = document.capacity.as_ref().and_then(|capacity| capacity.storage_probes.as_ref()?.said());
    let probes: String = probes.iter().map(|probes| format!("\n\n{}", plain(probes))).collect();
    format!("**{name}** {}{reasons}\n\n{}{probes}", plain(&title), plain(&sentence(document)))
}

fn order(field: &Field<'_>) -> String {
    let standing = Standing::of(field);
    let show = |figure: f64| match standing.measure {
        Measure::Capacity | Measure::Throughput => significant(figure),
        Measure::ResponseP99 | Measure::ResponseMean => duration(figure),
    };
    let measure = match standing.measure {
        Measure::Capacity => "sustained load",
        Measure::Throughput => "operations/s",
        Measure::ResponseP99 => "response p99",
        Measure::ResponseMean => "mean response",
    };
    let rows = standing.places.iter().map(|place| {
        let rank = if place.best == place.worst {
            place.best.to_string()
        } else {
            format!("{} to {}", place.best, place.worst)
        };
        let range = or_none(place.range, |range| match range.high {
            Some(high) => format!("{} to {}", show(range.low), show(high)),
            None => format!("at least {}", show(range.low)),
        });
        vec![rank, place.name.clone(), show(place.estimate), range, place.runs.to_string(), place.promise.clone()]
    });
    let heads = ["rank", "contender", measure, "interval", "runs", "a write survives"];
    let unranked =
        standing.unranked.iter().map(|(name, reason)| format!("\n\nNot ranked: {} ({})", plain(name), plain(reason)));
    let is_open = standing.places.iter().any(|place| place.best != place.worst);
    let sitting = match standing.measure {
        Measure::Capacity if is_open && !standing.is_of_sittings() => format!(
            "\n\n{}: order not established where ranks are ranges. Sittings of one system may lie \
             {SPREAD_OF_SITTINGS} times apart.",
            standing.sittings_lacking()
        ),
        _ => String::new(),
    };
    format!("{}{sitting}{}", table(&heads, &rows.collect::<Vec<_>>()), unranked.collect::<String>())
}

fn figures(documents: &[Document]) -> String {
    let rows = documents.iter().map(|document| {
        let response = document.latency.as_ref().map(|latency| &latency.by_operation.response);
        let database: Vec<_> = document.resources.iter().filter(|r| r.is_of_database()).collect();
        let cpu = database.iter().filter_map(|r| r.cpu_pct_mean).reduce(|a, b| a + b);
        let memory = database.iter().filter_map(|r| r.rss_bytes_mean).reduce(|a, b| a + b);
        let doubt = document.doubt().map(|doubt| format!(" ({doubt})")).unwrap_or_default();
        vec![
            format!("{}{doubt}", target(document)),
            or_none(document.throughput.as_ref().and_then(|t| t.operations_per_s), significant),
            or_none(response, |response| figure_of(response, "p50")),
            or_none(response, |response| figure_of(response, "p99")),
            or_none(cpu, |pct| format!("{} %", significant(pct))),
            or_none(memory, bytes),
            or_none(document.points.lost(), count),
        ]
    });
    let heads = ["run", "operations/s", "response p50", "p99", "CPU", "memory", "datapoints lost"];
    table(&heads, &rows.collect::<Vec<_>>())
}

fn in_words_of_tpcx_iot(figures: &IotPs) -> String {
    format!("**TPCx-IoT ({DISCLAIMER})** {}\n\n{}", plain(&figures.sentence()), plain(&figures.unmet_in_words()))
}

fn cost_table(costs: &[Cost]) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a size in bytes")]
    let size = |size: f64| bytes(size.round() as u64);
    let rows = costs.iter().map(|cost| {
        let shown = |key: &str, text: String| cost.unknown.get(key).map_or(text, |reason| format!("n/a: {reason}"));
        let money =
            |price: &crate::Price| format!("{} {}", significant(price.per_million_datapoints), price.system.currency);
        vec![
            cost.target.clone(),
            shown("cpu_s_per_million", or_none(cost.cpu_s_per_million, |s| format!("{} s", significant(s)))),
            shown("bytes_written_per_million", or_none(cost.bytes_written_per_million, size)),
            shown("bytes_stored_per_million", or_none(cost.bytes_stored_per_million, size)),
            shown("energy_j_per_million", or_none(cost.energy_j_per_million, significant)),
            shown("price", or_none(cost.price.as_ref(), money)),
        ]
    });
    let heads = ["a million datapoints cost", "CPU", "written", "stored", "energy", "money"];
    table(&heads, &rows.collect::<Vec<_>>())
}

fn setting(document: &Document) -> String {
    let lines = [machine::durability(document), machine::machine(document), machine::made_by(document)];
    let lines: String = lines.iter().map(|line| format!("- {}\n", plain(line))).collect();
    let summary = plain(&document.run_id);
    format!("<details><summary>{summary}</summary>\n\n{lines}\n{}\n\n</details>", code(&command(document)))
}

/// A block of code that nothing in it can end.
fn code(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}sh\n{text}\n{fence}")
}

fn table(heads: &[&str], rows: &[Vec<String>]) -> String {
    let line =
        |cells: &[String]| format!("| {} |", cells.iter().map(|cell| plain(cell)).collect::<Vec<_>>().join(" | "));
    let head = format!("| {} |\n|{}", heads.join(" | "), "---|".repeat(heads.len()));
    std::iter::once(head).chain(rows.iter().map(|row| line(row))).collect::<Vec<_>>().join("\n")
}

/// The text without markup: what could begin some, mention somebody or name an issue becomes an entity.
fn plain(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' | '<' | '>' | '|' | '*' | '`' | '[' | ']' | '\\' | '~' | '@' | '#' | '!' | '$' | '\n' => {
                shown.push_str(&format!("&#{};", u32::from(character)));
            }
            other => shown.push(other),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_is_markup_mentions_anybody_or_ends_its_block() {
        let hostile = "<script>|@all #1 [x](y) **b** `c`\n# head";
        let shown = plain(hostile);
        assert!(!shown.contains(['<', '>', '|', '@', '[', '*', '`', '\n']), "{shown}");
        assert!(code("echo ````").starts_with("`````sh\n"));
    }
}
