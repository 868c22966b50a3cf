//! Sizes for people.

/// Such as `12.30 MB`.
#[must_use]
pub fn decimal_size(bytes: u64) -> String {
    sized(bytes, 1_000.0, ["kB", "MB", "GB", "TB", "PB", "EB"])
}

/// Such as `12.30 MiB`.
#[must_use]
pub fn binary_size(bytes: u64) -> String {
    sized(bytes, 1_024.0, ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"])
}

fn sized(bytes: u64, step: f64, units: [&str; 6]) -> String {
    let (mut size, mut unit) = (bytes as f64, None);
    for larger in units {
        if size < step {
            break;
        }
        size /= step;
        unit = Some(larger);
    }
    unit.map_or_else(|| format!("{bytes} B"), |unit| format!("{size:.2} {unit}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_has_the_greatest_unit_that_fits() {
        assert_eq!([15, 999, 1_500, 1_500_000_000].map(decimal_size), ["15 B", "999 B", "1.50 kB", "1.50 GB"]);
        assert_eq!([79, 1_023, 1_024, 268_435_456].map(binary_size), ["79 B", "1023 B", "1.00 KiB", "256.00 MiB"]);
        assert_eq!((decimal_size(u64::MAX), binary_size(u64::MAX)), ("18.45 EB".into(), "16.00 EiB".into()));
    }
}
