//! Percentiles that are not the truth.

use super::*;

/// Answers as a database would give them that takes another rank, interpolates, or leaves a bucket out.
#[test]
fn a_percentile_beyond_the_values_beside_it_and_one_that_is_missing_are_found() {
    let (certain, _) = states(&Overlap::None);
    let query = percentiles(TimeRange::ALL, None);
    let answer = ask(&*database(&*dataset(), &certain), &query, &Overlap::None);
    let mut truth = of_tags();
    let mut values = Vec::new();
    let _ = truth.walk(&[0], TimeRange::ALL, &mut |row| {
        values.extend(row.number(0));
        ControlFlow::Continue(())
    });
    values.sort_by(f64::total_cmp);
    assert!(values.len() == 12 && values.windows(2).all(|pair| pair[0] < pair[1]), "{values:?}");
    // Of twelve the p50 is the sixth, the p99 the last and the p0.1 the first.
    let finding = |row: usize, figure: f64| {
        let mut answer = answer.clone();
        replace(answer.rows.as_mut().unwrap(), row, Some(Value::F64(figure)));
        compare(&mut of_tags(), &answer, EXACT)
    };
    let is_wrong = |row, figure| matches!(finding(row, figure), Finding::Wrong(_));
    let beyond = 1e-6 * values.iter().fold(0.0_f64, |greatest, value| greatest.max(value.abs()));
    for (row, right) in [(0, 4..7_usize), (2, 10..12), (3, 0..2)] {
        for (place, &value) in values.iter().enumerate() {
            assert_eq!(is_wrong(row, value), !right.contains(&place), "row {row}: the value of place {place}");
        }
        let (least, greatest) = (values[right.start], values[right.end - 1]);
        assert_eq!(finding(row, f64::midpoint(least, greatest)), Finding::Right);
        assert!(is_wrong(row, least - beyond) && is_wrong(row, greatest + beyond) && is_wrong(row, f64::NAN));
    }
    let query = percentiles(TimeRange::ALL, BucketWidth::from_ns(100_000_000));
    let mut answer = ask(&*database(&*dataset(), &certain), &query, &Overlap::None);
    assert_eq!(compare(&mut truth, &answer, EXACT), Finding::Right);
    (0..4).for_each(|_| shorten(answer.rows.as_mut().unwrap()));
    assert!(matches!(compare(&mut truth, &answer, EXACT), Finding::Wrong(_)), "the last bucket is missing");
}
