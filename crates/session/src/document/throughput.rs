//! The measured part: what was acknowledged a second in it, and how fast that became visible.

use iotbench_engine::Measured;
use iotbench_recorder::WindowCounts;
use iotbench_report::{MeasuredPart, Spread, Throughput, Visibility, Windows, rounding::rounded};

pub(crate) fn measured_part(measured: &Measured) -> MeasuredPart {
    MeasuredPart::between(measured.from_ns, measured.to_ns)
}

pub(crate) fn throughput(measured: &Measured) -> Throughput {
    let WindowCounts { ok, points, values_acked, rows_read, bytes, .. } = measured.counts;
    let counts = [ok, points.acked, values_acked, rows_read, bytes];
    Throughput::of(measured.seconds_long(), counts, windows(measured))
}

fn windows(measured: &Measured) -> Option<Windows> {
    let seconds = &measured.seconds;
    Some(Windows {
        count: seconds.len() as u64,
        operations_per_s: Spread::of(seconds.iter().map(|s| s.ok))?,
        points_per_s: Spread::of(seconds.iter().map(|s| s.points))?,
        values_per_s: Spread::of(seconds.iter().map(|s| s.values))?,
    })
}

pub(crate) fn visibility(seen: &iotbench_engine::Visibility) -> Visibility {
    Visibility {
        acked_points_per_s: rounded(seen.acked_per_s),
        visible_points_per_s: rounded(seen.visible_per_s),
        lag_first_s: rounded(seen.lag_first_s),
        lag_last_s: rounded(seen.lag_last_s),
        lag_growth: rounded(seen.lag_growth),
        lag_growth_error: rounded(seen.lag_growth_error),
    }
}
