//! Counts what is stored.

use super::shape::Shape;
use iotbench_core::Layout;

/// A query for one row: datapoints and values.
pub(crate) fn count_sql(shape: &Shape) -> String {
    let rows = shape.rows();
    match shape.layout() {
        Layout::Wide | Layout::Document => {
            let signals = 0..shape.table().spec.schema.width();
            let values =
                signals.filter_map(|signal| u16::try_from(signal).ok()).map(|s| format!("count({})", shape.value(s)));
            format!("SELECT count(*), {} FROM {rows}", values.collect::<Vec<_>>().join(" + "))
        }
        // Of one device and time there are as many datapoints as rows of its most frequent number.
        Layout::Narrow => format!(
            "SELECT coalesce(sum(points), 0)::bigint, coalesce(sum(\"values\"), 0)::bigint FROM ( \
             SELECT max(n) AS points, sum(n) AS \"values\" FROM ( \
             SELECT device, second, nanosecond, count(measurement) AS n FROM {rows} \
             GROUP BY device, second, nanosecond, number) AS n GROUP BY device, second, nanosecond) AS p"
        ),
        Layout::Bulk => format!(
            "SELECT count(*), coalesce(sum(jsonb_array_length(jsonb_path_query_array(m, '$[*] ? (@ != null)'))), 0)::bigint \
             FROM {rows}"
        ),
    }
}
