//! Newest datapoints that are not the truth, and those that are seen in part.

use super::*;

/// What is stored signal by signal is seen signal by signal.
#[test]
fn a_last_point_that_is_being_written_may_be_seen_in_part_and_no_other() {
    let (overlap, dataset) = (overlap_of(&[(2, 0), (2, 3), (2, 3)]), dataset());
    let (certain, possible) = states(&overlap);
    let newest = *possible.iter().find(|row| row.0 == 1).unwrap();
    let query = Query::LastPoints { devices: Devices::All };
    let stored: Rows = certain.iter().copied().chain([newest]).collect();
    let whole = ask(&*database(&*dataset, &stored), &query, &overlap);
    let finding = |row: usize, value: Option<f32>| {
        let mut answer = whole.clone();
        replace(answer.rows.as_mut().unwrap(), row, value.map(Value::F32));
        compare(&mut of_tags(), &answer, EXACT)
    };
    let Some(Value::F32(stored)) = whole.rows.as_ref().unwrap().columns[0].get(1) else { panic!() };
    assert_eq!(whole.rows.as_ref().unwrap().devices, [0, 1, 2]);
    assert_eq!(finding(1, Some(stored)), Finding::Right);
    assert_eq!(finding(1, None), Finding::Right, "one signal is not there yet");
    assert!(matches!(finding(1, Some(stored + 1.0)), Finding::Wrong(_)), "another value is wrong");
    assert!(matches!(finding(0, None), Finding::Wrong(_)), "what was acknowledged is whole");
}

#[test]
fn a_last_point_that_is_not_the_newest_is_found() {
    let (overlap, dataset) = (overlap_of(&[(2, 0), (2, 3), (2, 3)]), dataset());
    let (certain, _) = states(&overlap);
    let query = Query::LastPoints { devices: Devices::All };
    let finding = |stored: &Rows| {
        let answer = ask(&*database(&*dataset, stored), &query, &overlap);
        compare(&mut of_tags(), &answer, EXACT)
    };
    assert_eq!(finding(&certain), Finding::Right);
    for device in 0..DEVICES {
        let newest = *certain.iter().filter(|row| row.0 == device).max().unwrap();
        let older: Rows = certain.iter().copied().filter(|row| *row != newest).collect();
        assert!(matches!(finding(&older), Finding::Wrong(_)), "of device {device} an older one");
        let none: Rows = certain.iter().copied().filter(|row| row.0 != device).collect();
        assert!(matches!(finding(&none), Finding::Wrong(_)), "of device {device} none");
    }
    let of_no_time: Rows = certain.iter().copied().chain([(0, certain.len() as u64)]).collect();
    assert!(matches!(finding(&of_no_time), Finding::Wrong(_)), "one that was never sent");
}
