//! Results documents, of this version and of earlier ones: written again they are the same, and everything that is made of them for
//! people and programs can be made. Two are compared.

#![no_main]

use iotbench_fuzz::parts;
use iotbench_report::{
    Cell, CompareOptions, Document, HtmlOptions, METRICS, Metric, ReportedRun, compare, history, markdown_comparisons,
    render, render_comparison, render_comparisons, render_history, render_html, render_markdown, render_parquet,
    render_sweep, render_tidy,
};
use libfuzzer_sys::fuzz_target;

const COLUMNS: u16 = 100;

/// No character steers a terminal.
fn is_calm(text: &str) -> bool {
    !text.chars().any(|c| c.is_control() && c != '\n' && c != '\t')
}

fn alone(document: &Document) {
    let written = document.to_json().unwrap();
    assert!(is_calm(&written));
    let again = Document::from_json(&written).unwrap_or_else(|e| panic!("{e}\n{written}"));
    assert_eq!(again.to_json().unwrap(), written);
    drop(document.check());
    assert!(is_calm(&render(document, None, COLUMNS)));
}

fuzz_target!(|data: &[u8]| {
    let read = |part: &[u8]| std::str::from_utf8(part).ok().and_then(|text| Document::from_json(text).ok());
    let documents: Vec<Document> = parts::<3>(data).into_iter().flatten().filter_map(read).collect();
    documents.iter().for_each(alone);
    let Some(first) = documents.first() else { return };
    let runs: Vec<ReportedRun> = documents.iter().cloned().map(ReportedRun::of_document).collect();
    let options = HtmlOptions { prices: &[], across_durability: false, score: None, study: None };
    let page = render_html(&runs, &options);
    assert!(page.starts_with("<!DOCTYPE html>"));
    drop(render_markdown(&runs, &[], true));
    drop(render_tidy(&documents, &[]).unwrap());
    drop(render_parquet(&documents, &[]).unwrap());
    assert!(is_calm(&render_comparison(&documents, COLUMNS)));
    drop(render_sweep(&documents, COLUMNS));
    let metrics: Vec<&'static Metric> = METRICS.iter().collect();
    assert!(is_calm(&render_history(&history(documents.clone(), &metrics), COLUMNS)));
    let cell = Cell { base: vec![first.clone(); 2], new: documents };
    let options =
        CompareOptions { threshold: 0.05, metrics: Vec::new(), across: Default::default(), noise_floor: Some(1) };
    if let Ok(comparisons) = compare(vec![cell], &options) {
        assert!(is_calm(&render_comparisons(&comparisons, COLUMNS)));
        drop(markdown_comparisons(&comparisons));
    }
});
