//! Several runs in one table. Pure.

use crate::{
    document::{Document, Durability, Resources},
    network::{received_of_all, sent_of_all},
    terminal::{
        figure::{NONE, bytes, count, figure_of, or_none, significant},
        finished,
        table::table,
        usable,
    },
    written::written_of_all,
};
use comfy_table::CellAlignment::Right;

/// A row a run: datapoints offered, stored and lost, response and service time; below, what the database used and what an
/// acknowledged write survives. For a terminal of `columns` columns, of which at most 100 are used. The verdict stands
/// beside a run that is not valid.
///
/// CPU, memory and disk are those of the database's roles; an embedded database's are those of the client with it.
#[must_use]
pub fn render_comparison(documents: &[Document], columns: u16) -> String {
    let documents: Vec<_> = documents.iter().map(|d| d.printable().unwrap_or_else(|_| d.clone())).collect();
    let columns = usable(columns);
    let heads = ["offered", "stored", "lost", "response p50", "p99", "service p50", "p99"];
    let results = table("Run", &heads, documents.iter().map(results).collect(), Right, columns);
    let heads = ["CPU", "RSS mean", "disk written", "net in", "net out", "bytes a point", "a write survives"];
    let costs = table("Run", &heads, documents.iter().map(costs).collect(), Right, columns);
    let mut sections = vec![results, costs];
    let answers: Vec<_> = documents.iter().filter_map(answers).collect();
    if !answers.is_empty() {
        let heads = ["answers", "compared", "wrong", "cycles found", "not found", "right", "wrong"];
        sections.push(table("Run", &heads, answers, Right, columns));
    }
    finished(&sections.join("\n\n"))
}

fn answers(document: &Document) -> Option<Vec<String>> {
    let answers = document.answers.as_ref()?;
    let of_cycles = answers.cycles.as_ref().map(|c| [c.found, c.not_found, c.right, c.wrong]);
    let cycles = of_cycles.map_or([NONE; 4].map(String::from), |counts| counts.map(count));
    let compared = [answers.requests, answers.right + answers.wrong, answers.wrong].map(count);
    Some([vec![name(document)], compared.into(), cycles.into()].concat())
}

fn name(document: &Document) -> String {
    let variant = document.variant.iter().map(|variant| format!(", {variant}"));
    let title: String = std::iter::once(document.target.title()).chain(variant).collect();
    match document.doubt() {
        None => title,
        Some(doubt) => format!("{title} ({doubt})"),
    }
}

fn results(document: &Document) -> Vec<String> {
    let points = &document.points;
    let times = document.latency.as_ref().map(|latency| {
        let (response, service) = (&latency.by_operation.response, &latency.by_operation.service);
        [(response, "p50"), (response, "p99"), (service, "p50"), (service, "p99")].map(|(of, name)| figure_of(of, name))
    });
    let counts = [count(points.counts.generated), or_none(points.stored, count), or_none(points.lost(), count)];
    let times = times.unwrap_or_else(|| [NONE; 4].map(Into::into));
    [vec![name(document)], counts.into(), times.into()].concat()
}

fn costs(document: &Document) -> Vec<String> {
    let database: Vec<_> = document.resources.iter().filter(|r| r.is_of_database()).collect();
    let total = |figure: fn(&Resources) -> Option<u64>| database.iter().filter_map(|r| figure(r)).reduce(|a, b| a + b);
    let cpu_pct = database.iter().filter_map(|r| r.cpu_pct_mean).reduce(|a, b| a + b);
    vec![
        name(document),
        or_none(cpu_pct, |pct| format!("{} %", significant(pct))),
        or_none(total(|r| r.rss_bytes_mean), bytes),
        written_of_all(&database),
        received_of_all(&database),
        sent_of_all(&database),
        or_none(document.storage.bytes_per_point, significant),
        or_none(document.target.durability.as_ref(), survived),
    ]
}

/// The worst event that an acknowledged write survives, in a word or two.
pub(crate) fn survived(durability: &Durability) -> String {
    match durability.promise.as_str() {
        "buffered" => "no crash".into(),
        "process_crash" => "process crash".into(),
        "os_crash" => "OS crash".into(),
        "os_crash_within" => format!("OS crash but {} s", or_none(durability.within_s, significant)),
        other => other.into(),
    }
}
