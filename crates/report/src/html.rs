//! Runs as one page that needs nothing but a browser: no network, no other file. Pure.
//!
//! Every text is escaped by the template library. Data for the plots stands in blocks of JSON in which no character can end
//! a script. A content security policy lets nothing run but the two scripts that the page brings, by their digests.

mod bars;
mod capacity;
mod chart;
mod comparison;
mod cost;
mod heat_map;
mod json;
mod page;
mod percentiles;
mod quantity;
mod ranking;
mod run;
mod setting;
mod storage;
mod study;
mod summary;
mod table;
mod timeline;

use crate::{
    contender::fields,
    cost::Cost,
    document::Document,
    iotps::{DISCLAIMER, IotPs},
    price::PriceFile,
    reported_run::ReportedRun,
    terminal::figure::TIE,
};
use iotbench_scoring::Ranking;
use iotbench_suite::Study;
use maud::{Markup, html};

pub(crate) use setting::command;

/// What a page is made with beside the runs.
#[derive(Clone, Debug, Default)]
pub struct HtmlOptions<'a> {
    /// What the systems cost.
    pub prices: &'a [PriceFile],
    /// Whether contenders are ranked together although an acknowledged write survives different things.
    pub across_durability: bool,
    /// The weighted score of these runs, or why there is none; neither where it is not about them.
    pub score: Option<Result<&'a Ranking, String>>,
    /// What the study of these runs' suite found, beside what they found.
    pub study: Option<&'a Study>,
}

/// The runs as a page in HTML: verdict and answer first, then ranking, plots with their tables, cost, setting and commands.
///
/// Whatever the documents hold, nothing of it is markup or script.
#[must_use]
pub fn render_html(runs: &[ReportedRun], options: &HtmlOptions<'_>) -> String {
    let runs: Vec<ReportedRun> = runs
        .iter()
        .map(|run| ReportedRun { document: run.document.printable().unwrap_or(run.document.clone()), ..run.clone() })
        .collect();
    let (title, body) = match runs.as_slice() {
        [one] => (title(&one.document), alone(one, options)),
        several => (format!("{} runs", several.len()), together(several, options)),
    };
    page::page(&title, &body).into_string()
}

fn title(document: &Document) -> String {
    format!("{} on {}", document.profile_title(), document.target.title())
}

fn alone(run: &ReportedRun, options: &HtmlOptions<'_>) -> Markup {
    let document = &run.document;
    let cost = cost_of(document, options);
    html! {
        header {
            p.kind { "iotbench · run" }
            h1 { (document.profile_title()) " " span.on { "on" } " " (document.target.title()) }
            (summary::verdict(document))
        }
        (summary::figures(document))
        (iotps_section(&IotPs::of(std::slice::from_ref(document), options.prices)))
        @if let Some(study) = options.study { (study::section(study)) }
        (run::sections(run, &cost, 0, "run"))
    }
}

fn together(runs: &[ReportedRun], options: &HtmlOptions<'_>) -> Markup {
    let mut fields = fields(runs, options.across_durability);
    let heading = comparison::title(&fields);
    // Sizes of a sweep are no contenders of each other: where a study's curves show them, they are not ranked.
    let is_swept = |run: &&ReportedRun| run.document.sweep.is_some();
    if options.study.is_some_and(|study| !study.curves.is_empty()) {
        fields.retain(|field| !field.contenders.iter().flat_map(|contender| &contender.runs).any(is_swept));
    }
    let costs: Vec<Cost> = runs.iter().map(|run| cost_of(&run.document, options)).collect();
    let documents: Vec<Document> = runs.iter().map(|run| run.document.clone()).collect();
    let place = |run: &ReportedRun| {
        let contenders = fields.iter().flat_map(|field| &field.contenders);
        contenders.filter(|contender| contender.runs.iter().any(|own| std::ptr::eq(*own, run))).map(|c| c.place).next()
    };
    html! {
        header {
            p.kind { "iotbench · comparison" }
            h1 { (heading) }
            (comparison::verdict(runs))
        }
        @for (number, field) in fields.iter().enumerate() {
            (ranking::section(field, fields.len()))
            (comparison::plots(field, number, fields.len()))
        }
        (ranking::score(options, runs))
        @if let Some(study) = options.study { (study::section(study)) }
        (iotps_section(&IotPs::of(&documents, options.prices)))
        (cost::section(&costs))
        section aria-labelledby="runs" {
            h2 #runs { "Each run" }
            @for (number, run) in runs.iter().enumerate() {
                details.run {
                    summary {
                        (summary::badge(&run.document)) " "
                        (title(&run.document)) " "
                        span.dim { (run.document.run_id) }
                    }
                    (summary::verdict(&run.document))
                    (summary::figures(&run.document))
                    @if let Some(cost) = costs.get(number) {
                        (run::sections(run, cost, place(run).unwrap_or_default(), &format!("run-{number}")))
                    }
                }
            }
        }
    }
}

/// What the runs come to in the words of TPCx-IoT; nothing where none has such figures.
fn iotps_section(figures: &[IotPs]) -> Markup {
    html! {
        @if !figures.is_empty() {
            section {
                h2 { "In the words of TPCx-IoT (" (DISCLAIMER) ")" }
                @for figures in figures {
                    p { (plain(&figures.sentence())) }
                    p.note { (plain(&figures.unmet_in_words())) }
                }
            }
        }
    }
}

/// Without the blanks that only a terminal's paragraphs know.
fn plain(text: &str) -> String {
    text.replace(TIE, " ")
}

fn cost_of(document: &Document, options: &HtmlOptions<'_>) -> Cost {
    let target = document.target.name();
    Cost::of(document, options.prices.iter().find(|price| price.is_for(&target)))
}
