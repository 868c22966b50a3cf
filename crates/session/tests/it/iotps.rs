//! What runs of `tpcx_iot` come to in the words of TPCx-IoT.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::outcomes;
use iotbench_report::{
    Cost, Document, HtmlOptions, IotPs, PriceFile, ReportedRun, Status, render, render_html, render_iotps,
    render_markdown,
};
use iotbench_session::document_of;

/// A run of 200 sensors that stored so many readings a second.
fn run(target: (&str, &str), rate: f64, warmup_s: f64, length_s: f64) -> Document {
    let mut outcome = outcomes::fixed(450, 0, 0);
    outcomes::with_audit(&mut outcome);
    let mut document = document_of(&outcome, &outcomes::provenance());
    document.profile = "tpcx_iot".into();
    (document.target.backend, document.target.layout) = (target.0.into(), target.1.into());
    document.run_id = format!("{rate}-{}", target.0);
    document.verdict.status = Status::Valid;
    document.throughput.as_mut().unwrap().points_per_s = Some(rate);
    let measured = document.measured.as_mut().unwrap();
    (measured.from_s, measured.length_s) = (Some(warmup_s), Some(length_s));
    document.audit.as_mut().unwrap().of_devices = 200;
    let kind = &mut document.latency.as_mut().unwrap().kinds[0];
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "2 a second")]
    let queries = (2.0 * length_s) as u64;
    (kind.name, kind.by_operation.response.count) = ("dashboards/max".into(), queries);
    document
}

const POSTGRES: (&str, &str) = ("postgres", "wide");

#[test]
fn the_slower_of_two_runs_counts() {
    let runs = [run(POSTGRES, 4_000.0, 1800.0, 1800.0), run(POSTGRES, 4_000.0 - 1e-9, 1800.0, 1800.0)];
    let found = IotPs::of(&runs, &[]);
    assert_eq!((found.len(), found[0].iotps), (1, Some(4_000.0 - 1e-9)));
    assert_eq!(found[0].performance_run.as_deref(), Some(&*runs[1].run_id));
    assert_eq!(found[0].disclaimer, "not a TPC result");
    assert_eq!(found[0].unmet.last().unwrap(), "two copies of each reading: not looked at");
    assert_eq!(found[0].unmet.len(), 2, "a hair too slow: {:?}", found[0].unmet);
    assert!(IotPs::of(&runs[..1], &[])[0].iotps.is_none(), "one run has no IoTps");
}

#[test]
fn what_is_not_kept_is_said_and_refuses_nothing() {
    let runs = [run(POSTGRES, 3_000.0, 10.0, 60.0), run(POSTGRES, 5_000.0, 10.0, 59.5)];
    let found = &IotPs::of(&runs, &[])[0];
    assert_eq!(found.iotps, Some(3_000.0), "they have a figure all the same");
    let unmet = found.unmet.join("\n");
    assert!(unmet.contains("a warm-up of at least 1800 s: the shortest took 10.0 s"), "{unmet}");
    assert!(unmet.contains("a measured run of at least 1800 s: the shortest took 59.5 s"), "{unmet}");
    assert!(unmet.contains("20 readings/s of each sensor: 15.0 of each"), "{unmet}");
    assert!(unmet.contains("5 queries to 10,000 readings: 4.00"), "of the faster one: {unmet}");
    let slow = IotPs::of(&[run(POSTGRES, 3_000.0, 10.0, 60.0)], &[]);
    assert!(!slow[0].unmet.join("").contains("queries"), "6.7 of them: {:?}", slow[0].unmet);
    let fast = IotPs::of(&[run(POSTGRES, 8_000.0, 10.0, 60.0)], &[]);
    assert!(fast[0].unmet.join("").contains("5 queries to 10,000 readings: 2.50"), "{:?}", fast[0].unmet);
    let mut invalid = run(POSTGRES, 9_000.0, 1800.0, 1800.0);
    invalid.verdict.status = Status::Invalid;
    let of_invalid = &IotPs::of(&[runs[0].clone(), invalid.clone()], &[])[0];
    assert_eq!((of_invalid.iotps, of_invalid.runs.len()), (None, 1), "a run that is not valid has none");
    assert!(of_invalid.unmet.join("").contains("1 of the runs are not valid"), "{:?}", of_invalid.unmet);
    let one = &IotPs::of(&[invalid], &[])[0];
    assert!(one.unmet[0].contains("2 runs: there is one"), "{:?}", one.unmet);
}

#[test]
fn a_price_is_that_of_a_thousand_iotps() {
    let text = "currency = \"EUR\"\ndate = \"2026-11-22\"\ntargets = [\"postgres:wide\"]\n[[items]]\nwhat = \"server\"\nonce = 9000\na_year = 1000\n";
    let price = PriceFile::from_toml(text).unwrap();
    let runs = [run(POSTGRES, 4_000.0, 10.0, 60.0), run(POSTGRES, 6_000.0, 10.0, 60.0)];
    let others = [run(("questdb", "wide"), 9_000.0, 10.0, 60.0), run(("questdb", "wide"), 8_000.0, 10.0, 60.0)];
    let found = IotPs::of(&[&runs[..], &others].concat(), std::slice::from_ref(&price));
    // 1000 × (9000 + 3 × 1000) / 4000.
    assert_eq!((found[0].price_per_kiotps, found[0].currency.as_deref()), (Some(3_000.0), Some("EUR")));
    assert_eq!((found[1].iotps, found[1].price_per_kiotps), (Some(8_000.0), None), "it has no price");
    let costs: Vec<Cost> = runs.iter().map(|run| Cost::of(run, Some(&price))).collect();
    let reported: Vec<ReportedRun> = runs.iter().cloned().map(ReportedRun::of_document).collect();
    let markdown = render_markdown(&reported, &costs, false);
    let page = render_html(&reported, &HtmlOptions { prices: std::slice::from_ref(&price), ..HtmlOptions::default() });
    for text in [&markdown, &page] {
        assert!(text.contains("not a TPC result") && text.contains("EUR/kIoTps"), "{text}");
    }
}

#[test]
fn runs_of_other_profiles_have_none_of_it() {
    let mut other = run(POSTGRES, 4_000.0, 10.0, 60.0);
    assert!(render(&other, None, 100).contains("In the words of TPCx-IoT (not a TPC result)"));
    let both = render_iotps(&[other.clone(), run(POSTGRES, 5_000.0, 10.0, 60.0)], 100).unwrap();
    assert!(both.contains("4,000 IoTps"), "{both}");
    other.profile = "pmu_write".into();
    assert!(!render(&other, None, 100).contains("TPCx-IoT"));
    assert_eq!(render_iotps(&[other.clone()], 100), None);
    assert!(!render_html(&[ReportedRun::of_document(other)], &HtmlOptions::default()).contains("TPCx-IoT"));
}
