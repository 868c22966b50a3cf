//! Whether the load had settled, and how exact its means are.

use super::{
    figure::{count, duration, significant},
    table::paragraph,
};
use crate::document::{Document, SteadyFigure};

pub(super) fn section(document: &Document, columns: u16) -> Option<String> {
    let steady = document.steady.as_ref()?;
    let state = match steady.is_steady {
        None => format!("not judged, with {} whole seconds of 100 that are needed", count(steady.seconds)),
        Some(true) => "yes".into(),
        Some(false) => "NO, see the remarks".into(),
    };
    let warm_up = match steady.warm_up_s {
        Some(s) if s > 0 => format!(", after {} s of warm-up in the measured part", count(s)),
        _ => String::new(),
    };
    let throughput = figure(&steady.operations_per_s, |rate| format!("{} operations/s", significant(rate)));
    let response =
        steady.response_us.as_ref().and_then(|us| figure(us, |us| format!("mean response {}", duration(us))));
    let means: Vec<_> = [throughput, response].into_iter().flatten().collect();
    let means = if means.is_empty() {
        "no interval: its seconds are too few, or too alike their neighbours".into()
    } else {
        format!("{} (95 % by batch means of its seconds)", means.join(", "))
    };
    Some(paragraph(&format!("Steady: {state}{warm_up}; {means}."), columns))
}

/// `1,230 operations/s ± 1.20 %`; none without an interval.
fn figure(figure: &SteadyFigure, show: impl Fn(f64) -> String) -> Option<String> {
    Some(format!("{} ± {} %", show(figure.mean?), significant(figure.half_width_pct()?)))
}
