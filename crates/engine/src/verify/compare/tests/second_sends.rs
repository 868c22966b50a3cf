//! Answers of a database in any of the states in which a load may have left it that sends some datapoints twice.

use super::*;
use crate::verify::second_sends::{Copies, SecondSends};
use iotbench_core::Duplicates;

/// One in four of what a device sends is sent again, the same or corrected, five datapoints later.
fn history_of(key: &str) -> History {
    let mut config = serde_json::json!({ "name": "pmu", "rate": 50.0 });
    config[key] = serde_json::json!({ "share": 0.25, "after": "100ms" });
    let config: DatasetConfig = serde_json::from_value(config).unwrap();
    let dataset = config.open(1, 0, DEVICES, Path::new(".")).unwrap();
    History { dataset, devices: 2, positions: HISTORY }
}

fn truth_of(key: &str, duplicates: Duplicates, overlap: &Overlap) -> Truth {
    let history = history_of(key);
    let second_sends = SecondSends::of(&history, duplicates);
    let mut truth = Truth::new(history).with_tags(tags()).with_second_sends(second_sends);
    truth.beside(overlap);
    truth
}

/// What is stored of a datapoint, as chance will have it.
fn copies(truth: &Truth, (device, first): (u32, u64), chance: u8) -> Vec<Batch> {
    let dataset = &truth.history().dataset;
    let run = Run { device, first, count: 1 };
    let [mut right, mut uncorrected, mut mixed] = [0; 3].map(|_| Batch::new(dataset.schema()));
    dataset.fill(run, &mut right);
    dataset.fill_uncorrected(run, &mut uncorrected);
    mixed.append(run, |timestamps_ns, columns| {
        timestamps_ns.push(right.timestamps_ns()[0]);
        for (place, column) in columns.iter_mut().enumerate() {
            let of = if place % 2 == 0 { &right } else { &uncorrected };
            assert!(column.push(of.value(place, 0).unwrap()));
        }
    });
    match (truth.copies(device, first), chance % 4) {
        (Copies::One, _) | (Copies::OneOrTwo, 0 | 1) => vec![right],
        (Copies::OneOrTwo, _) => vec![right.clone(), right],
        (Copies::Either, 0) | (Copies::Both, 0) => vec![uncorrected],
        (Copies::Either, 1) => vec![mixed],
        (Copies::Either, _) | (Copies::Both, 1) => vec![right],
        (Copies::Both, 2) => vec![uncorrected, right],
        (Copies::Both, _) => vec![right, uncorrected],
    }
}

/// A database with what chance has stored of these.
fn filled(truth: &Truth, stored: &Rows, chances: &[u8]) -> Arc<dyn Database> {
    let database = database(&*truth.history().dataset, &Rows::new());
    block_on(async {
        let mut writer = database.writer().await.unwrap();
        for (&row, &chance) in stored.iter().zip(chances.iter().cycle()) {
            for batch in copies(truth, row, chance) {
                writer.write(&batch).await.unwrap();
            }
        }
    });
    database
}

fn which() -> impl Strategy<Value = (&'static str, Duplicates)> {
    use Duplicates::{Keep, Overwrite};
    prop::sample::select(vec![("twice", Keep), ("twice", Overwrite), ("corrected", Keep), ("corrected", Overwrite)])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn no_state_that_may_be_is_called_wrong(
        (key, duplicates) in which(),
        progress in prop::collection::vec((0..12_u64, 0..5_u64), 3),
        seen in prop::collection::vec(any::<bool>(), 64),
        chances in prop::collection::vec(any::<u8>(), 64),
        from_index in 0..HISTORY + 10,
    ) {
        let overlap = overlap_of(&progress);
        let (certain, possible) = states(&overlap);
        let stored: Rows = certain.into_iter().chain(possible.into_iter().zip(seen).filter(|(_, seen)| *seen).map(|(row, _)| row)).collect();
        let mut truth = truth_of(key, duplicates, &overlap);
        let database = filled(&truth, &stored, &chances);
        for query in queries(truth.history().dataset.timestamp_ns(0, from_index)) {
            let finding = compare(&mut truth, &ask(&*database, &query, &overlap), EXACT);
            prop_assert!(!matches!(finding, Finding::Wrong(_)), "{key} {duplicates:?} {query:?}: {finding:?}");
        }
    }
}

/// Of what is sent once, and of what is only sent again the same, each loss and each third copy is found.
#[test]
fn what_cannot_be_is_found_beside_what_may() {
    let overlap = overlap_of(&[(12, 0), (12, 0), (12, 0)]);
    let (certain, _) = states(&overlap);
    for (key, duplicates) in
        [("twice", Duplicates::Keep), ("corrected", Duplicates::Keep), ("corrected", Duplicates::Overwrite)]
    {
        let mut truth = truth_of(key, duplicates, &overlap);
        let mut finding = |stored: &Rows, more: Option<(u32, u64)>| {
            let database = filled(&truth, stored, &[0]);
            if let Some(row) = more {
                block_on(async {
                    let mut writer = database.writer().await.unwrap();
                    for batch in [copies(&truth, row, 0), copies(&truth, row, 0)].concat() {
                        writer.write(&batch).await.unwrap();
                    }
                });
            }
            compare(&mut truth, &ask(&*database, &Query::Scan, &overlap), EXACT)
        };
        assert_eq!(finding(&certain, None), Finding::Right);
        let mut in_doubt = 0;
        let judge = truth_of(key, duplicates, &overlap);
        for row in certain.iter().copied() {
            let is_in_doubt = matches!(judge.copies(row.0, row.1), Copies::Either | Copies::Both);
            in_doubt += u32::from(is_in_doubt);
            let without: Rows = certain.iter().copied().filter(|&other| other != row).collect();
            assert_eq!(finding(&without, None) == Finding::Right, is_in_doubt, "{key} {duplicates:?}: {row:?} is lost");
            assert!(
                matches!(finding(&certain, Some(row)), Finding::Wrong(_)),
                "{key} {duplicates:?}: {row:?} is there three times"
            );
        }
        assert_eq!(in_doubt > 5, key == "corrected", "{in_doubt}");
    }
}
