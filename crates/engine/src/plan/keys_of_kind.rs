//! Which keys an operation goes by: one that says nothing to its kind is refused, and not passed over.

use crate::{
    profile::{OperationConfig, OperationKind, RequestDevices},
    units::Auto,
};

/// The keys that a kind goes by, of those that not every one does.
fn of(kind: OperationKind) -> &'static [&'static str] {
    match kind {
        OperationKind::CycleSearch => &["signals", "strategy"],
        OperationKind::ReadSignal => &["signals", "devices", "window", "descending"],
        OperationKind::ReadPoint => &["signals", "devices"],
        OperationKind::ReadLatest => &["signals"],
        OperationKind::ReadRecords | OperationKind::ReadNewest => &["records"],
        OperationKind::LastPoints => &["devices", "signals", "above", "below", "per_tag"],
        OperationKind::ReadDevice => &[],
        OperationKind::MaxRecords => &["signals", "records"],
        OperationKind::MeanDevice => &["signals"],
        OperationKind::Filter | OperationKind::FilterRecords => {
            &["signals", "devices", "window", "above", "below", "descending"]
        }
        OperationKind::Figures => {
            &["signals", "devices", "window", "aggregates", "above", "below", "where", "per_tag", "rollup"]
        }
        OperationKind::CompareWindows => &["signals", "devices", "window", "aggregates"],
        OperationKind::Buckets => {
            &["signals", "devices", "window", "aggregates", "width", "above", "below", "fill", "where", "rollup"]
        }
        OperationKind::TotalBuckets => {
            &["signals", "devices", "window", "aggregates", "width", "above", "below", "where", "descending"]
        }
        OperationKind::CountBuckets => {
            &["signals", "devices", "window", "aggregates", "width", "above", "below", "records", "where", "rollup"]
        }
        OperationKind::NewestBuckets => &["signals", "devices", "aggregates", "width", "records"],
        OperationKind::TopDevices => &["signals", "devices", "window", "aggregates", "records"],
        OperationKind::Gaps => &["signals", "devices", "window", "longer_than"],
        OperationKind::TimeWeightedMean => &["signals", "devices", "window"],
        OperationKind::Differences => &["signals", "devices", "window", "per"],
        OperationKind::Dashboard => &["signals", "window"],
        OperationKind::Statement => &["signals", "window", "width"],
        OperationKind::Write => &["devices", "datapoints"],
    }
}

/// Refuses a key that is written and says nothing, and a stretch of time that holds none.
///
/// # Errors
/// The key, and what is wrong.
pub(super) fn check(config: &OperationConfig) -> Result<(), (String, String)> {
    let written = [
        ("signals", !config.signals.is_empty()),
        ("datapoints", config.datapoints != Auto::Auto),
        ("devices", config.devices != RequestDevices::Count(1)),
        ("window", config.window != OperationConfig::WINDOW),
        ("records", config.records.0 != 1),
        ("above", config.above.is_some()),
        ("below", config.below.is_some()),
        ("width", config.width != Auto::Auto),
        ("longer_than", config.longer_than != Auto::Auto),
        ("per", config.per != Auto::Auto),
        ("aggregates", !config.aggregates.is_empty()),
        ("fill", config.fill != Auto::Auto),
        ("where", config.only.is_some()),
        ("per_tag", !config.per_tag.is_empty()),
        ("rollup", config.rollup.is_some()),
        ("descending", config.descending),
        ("strategy", config.strategy != Auto::Auto),
    ];
    let taken = of(config.kind);
    if let Some((key, _)) = written.iter().find(|(key, is_written)| *is_written && !taken.contains(key)) {
        let takes = if taken.is_empty() { String::new() } else { format!(", but by {}", taken.join(", ")) };
        return Err(((*key).into(), format!("{} does not go by it{takes}: leave it out", config.kind)));
    }
    if taken.contains(&"window") && config.window.as_ns() == 0 {
        return Err(("window".into(), "a stretch of no time holds nothing: write one longer than 0".into()));
    }
    Ok(())
}
