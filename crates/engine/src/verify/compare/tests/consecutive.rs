//! Gaps and differences between consecutive values that are not the truth.

use super::*;

/// A change of an answer, and what is said of it.
type Lie<'a> = (&'a dyn Fn(&mut Chunk), &'a str);

#[test]
fn a_gap_that_is_missing_too_many_or_of_another_length_is_found() {
    let (certain, _) = states(&Overlap::None);
    let finding = |asked: &Query, answer: KeptAnswer| {
        let answer = KeptAnswer { query: asked.clone(), ..answer };
        match compare(&mut of_tags(), &answer, EXACT) {
            Finding::Wrong(how) => how,
            other => format!("{other:?}"),
        }
    };
    let of = |query: &Query, stored: &Rows| ask(&*database(&*dataset(), stored), query, &Overlap::None);
    let (each, long) = (gaps(10_000_000, TimeRange::ALL), gaps(30_000_000, TimeRange::ALL));
    let whole = of(&each, &certain);
    assert_eq!((finding(&each, whole.clone()), whole.len()), ("Right".into(), 22));
    let lies: [Lie<'_>; 4] = [
        (&|rows| shorten(rows), "the gap of device 1 from "),
        (&|rows| rows.devices[21] = 2, "the gap of device 1 from "),
        (&|rows| rows.timestamps_ns[3] += 1, "the gap of device 0 from "),
        (
            &|rows| rows.columns[0] = of(&each, &Rows::from([(0, 0), (0, 2)])).rows.unwrap().columns[0].clone(),
            "row 0 is a gap of device 0 that ends at ",
        ),
    ];
    for (lie, said) in lies {
        let mut answer = whole.clone();
        lie(answer.rows.as_mut().unwrap());
        let how = finding(&each, answer);
        assert!(how.starts_with(said), "{how}");
    }
    let without: Rows = certain.iter().copied().filter(|row| *row != (0, 5)).collect();
    let how = finding(&long, of(&long, &without));
    assert!(how.starts_with("row 0 is a gap of device 0 that ends at "), "a datapoint is not there: {how}");
    assert_eq!(finding(&long, whole.clone()), "row 0: a gap of 20000000 ns is not longer than 30000000 ns");
    // Of rows that are not kept whole it is known how many they are.
    for (digests, how) in [(1, "Right"), (2, "23 rows were answered, and there are 22")] {
        let mut answer = whole.clone();
        shorten(answer.rows.as_mut().unwrap());
        answer.digests = vec![0; digests];
        assert_eq!(finding(&each, answer), how);
    }
}

#[test]
fn a_difference_to_another_value_than_the_one_before_is_found() {
    // Of device 0 three more may be there, of device 2 any of four, and nothing before them.
    let (overlap, dataset) = (overlap_of(&[(0, 3), (0, 0), (0, 4)]), dataset());
    let (certain, _) = states(&overlap);
    let finding = |asked: &Query, answer: KeptAnswer| {
        let answer = KeptAnswer { query: asked.clone(), ..answer };
        match compare(&mut of_tags(), &answer, EXACT) {
            Finding::Wrong(how) => how,
            other => format!("{other:?}"),
        }
    };
    let of = |query: &Query, stored: &Rows| ask(&*database(&*dataset, stored), query, &overlap);
    let with = |more: &[(u32, u64)]| certain.iter().chain(more).copied().collect::<Rows>();
    let (plain, per_second) =
        (differences(None, TimeRange::ALL), differences(NonZeroU64::new(1_000_000_000), TimeRange::ALL));
    for stored in [with(&[]), with(&[(0, 13)]), with(&[(2, 1), (2, 3)])] {
        assert_eq!(finding(&plain, of(&plain, &stored)), "Right");
        assert_eq!(finding(&per_second, of(&per_second, &stored)), "Right");
        let other = finding(&plain, of(&per_second, &stored));
        assert!(other.starts_with("row 0: the difference of device 0 at "), "{other}");
    }
    let without: Rows = certain.iter().copied().filter(|row| *row != (1, 5)).collect();
    let missing = finding(&plain, of(&plain, &without));
    assert!(missing.starts_with("row 15 is missing: device 1 at "), "{missing}");
    let whole = of(&plain, &with(&[(2, 1), (2, 3)]));
    let lies: [Lie<'_>; 4] = [
        (&|rows| shorten(rows), "Right"),
        (
            &|rows| rows.columns[0] = of(&plain, &without).rows.unwrap().columns[0].clone(),
            "row 15: the difference of device 1 at ",
        ),
        // Between these is one that may be there; the answer says that it is not.
        (&|rows| rows.columns[0] = of(&plain, &with(&[(2, 2), (2, 3)])).rows.unwrap().columns[0].clone(), "Right"),
        (&|rows| rows.timestamps_ns[22] += 1, "23 rows were answered, and there are 22"),
    ];
    for (lie, said) in lies {
        let mut answer = whole.clone();
        lie(answer.rows.as_mut().unwrap());
        let how = finding(&plain, answer);
        assert!(how.starts_with(said), "{how}");
    }
}
