//! What limits throughput as users are added.

use super::{
    figure::{or_none, significant},
    table::list,
};
use crate::document::{Document, Usl, UslEstimate};

pub(super) fn section(document: &Document, columns: u16) -> Option<String> {
    let usl = document.capacity.as_ref()?.usl.as_ref()?;
    let mut rows = vec![["Scalability".into(), usl.refused.as_ref().map_or_else(|| fitted(usl), |why| refused(why))]];
    if let Some(peak) = peak(usl) {
        rows.push(["Peak".into(), peak]);
    }
    Some(list(rows, columns))
}

fn refused(why: &str) -> String {
    format!("USL not fitted: {why}")
}

/// `USL over 10 loads: one user 21.3 operations/s (20.9 to 21.8), contention 0.05 (…), coherency 0.001 (…); 1.20 % unexplained`
fn fitted(usl: &Usl) -> String {
    format!(
        "USL over {} loads: one user {} operations/s, contention σ {}, coherency κ {}; {} % unexplained",
        usl.levels,
        estimate(usl.single_per_s.as_ref()),
        estimate(usl.contention.as_ref()),
        estimate(usl.coherency.as_ref()),
        or_none(usl.unexplained_pct, significant)
    )
}

fn peak(usl: &Usl) -> Option<String> {
    let told = usl.peak_users.as_ref().map(|users| {
        let (users, rate) = (estimate(Some(users)), estimate(usl.peak_per_s.as_ref()));
        format!("at N* = {users} users with {rate} operations/s")
    });
    told.or_else(|| usl.no_peak.clone())
}

/// `31.6 (30.1 to 33.0)`, with the 95 % interval.
fn estimate(of: Option<&UslEstimate>) -> String {
    let show = |figure: Option<f64>| or_none(figure, significant);
    or_none(of, |of| format!("{} ({} to {})", show(of.value), show(of.low), show(of.high)))
}
