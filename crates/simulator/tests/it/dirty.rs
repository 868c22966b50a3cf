//! Whatever is simulated can be dirty: another order, and the same datapoints.

use iotbench_core::{Batch, Run};
use iotbench_simulator::{DATASETS, DEFAULT_ORIGIN_NS, Dataset, DatasetConfig, Sends};
use serde_json::{Value, json};
use std::{path::Path, sync::Arc};

const POSITIONS: u32 = 4_000;

fn opened(name: &str, parameters: &[(&str, Value)]) -> Arc<dyn Dataset> {
    let signals = json!([{ "name": "level", "shape": "random_walk" }]);
    let config = DatasetConfig::named(name).unwrap_or_else(|e| panic!("{e}"));
    let config = if name == "custom" { config.with("signals", signals) } else { config };
    let config = parameters.iter().fold(config, |config, (key, value)| config.with(key, value.clone()));
    config.open(1, DEFAULT_ORIGIN_NS, 3, Path::new(".")).unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn simulated() -> impl Iterator<Item = &'static str> {
    DATASETS.iter().map(|info| info.name).filter(|name| *name != "replay")
}

fn order(dataset: &dyn Dataset, device: u32) -> Vec<u64> {
    let mut runs = Vec::new();
    dataset.sending_order(device, 0, POSITIONS, &mut runs);
    runs.iter().flat_map(Run::indices).collect()
}

#[test]
fn what_is_late_or_scrambled_is_sent_once_and_with_its_own_time_and_values() {
    for name in simulated() {
        let plain = opened(name, &[]);
        let by = format!("{}ns", 20 * plain.period_ns());
        let late = opened(name, &[("late", json!({ "share": 0.1, "by": by }))]);
        let scrambled = opened(name, &[("out_of_order", json!({ "share": 0.5, "window": 8 }))]);
        for dirty in [&late, &scrambled] {
            let order = order(&**dirty, 2);
            assert!(order.windows(2).any(|pair| pair[1] < pair[0]), "{name}: nothing comes after a later one");
            let mut once = order.clone();
            once.sort_unstable();
            once.dedup();
            assert_eq!(once.len(), order.len(), "{name}");
            let run = Run { device: 2, first: 100, count: 50 };
            let (mut of_plain, mut of_disturbed) = (Batch::new(plain.schema()), Batch::new(plain.schema()));
            plain.fill(run, &mut of_plain);
            dirty.fill(run, &mut of_disturbed);
            assert_eq!(of_plain, of_disturbed, "{name}");
        }
    }
}

/// The data are those without it; which of them lack a signal follows from their positions.
#[test]
fn signals_that_are_added_change_no_value_and_no_order() {
    for name in simulated() {
        let plain = opened(name, &[]);
        if plain.schema().width() == 1 {
            continue;
        }
        let added = opened(name, &[("added_signals", json!({ "signals": 1, "after": 70 }))]);
        assert_eq!((plain.added_from(), added.added_from()), (None, Some(70)), "{name}");
        assert_eq!(added.schema().first_signals().len() + 1, plain.schema().width(), "{name}");
        assert_eq!(added.schema().signals(), plain.schema().signals(), "{name}");
        assert_eq!(order(&*added, 1), order(&*plain, 1), "{name}");
        let run = Run { device: 2, first: 60, count: 20 };
        let (mut of_plain, mut of_added) = (Batch::new(plain.schema()), Batch::new(added.schema()));
        plain.fill(run, &mut of_plain);
        added.fill(run, &mut of_added);
        assert_eq!(of_plain, of_added, "{name}");
    }
}

#[test]
fn a_share_of_all_datapoints_is_missing() {
    for name in simulated() {
        let period_ns = opened(name, &[]).period_ns();
        let length = format!("{}ns", 5 * period_ns);
        let gaps = opened(name, &[("gaps", json!({ "share": 0.2, "length": length }))]);
        let order = order(&*gaps, 0);
        let last = *order.last().unwrap();
        let missing = last + 1 - u64::from(POSITIONS);
        assert!((900..1_100).contains(&missing), "{name}: of {last} {missing} are missing");
        assert_eq!(gaps.positions_before(0, last + 1), u64::from(POSITIONS), "{name}");
    }
}

/// Whatever else is dirty: the positions, and so the history, are those without it, and what is sent twice has one of them.
#[test]
fn what_is_sent_twice_has_one_position_and_its_second_send_comes_later() {
    for name in simulated() {
        let period_ns = opened(name, &[]).period_ns();
        let late = ("late", json!({ "share": 0.1, "by": format!("{}ns", 20 * period_ns) }));
        let after = format!("{}ns", 30 * period_ns);
        let plain = opened(name, std::slice::from_ref(&late));
        let dirty = opened(name, &[late, ("twice", json!({ "share": 0.1, "after": after }))]);
        assert!(plain.twice().is_none(), "{name}");
        let order = order(&*dirty, 2);
        assert_eq!(order, self::order(&*plain, 2), "{name}");
        let (twice, mut sent, mut again) = (dirty.twice().unwrap(), Vec::new(), 0);
        twice.tell(2, 0, POSITIONS, &mut |Sends { first, count, is_second }| {
            let mut runs = Vec::new();
            dirty.sending_order(2, first, count, &mut runs);
            for index in runs.iter().flat_map(Run::indices) {
                assert_eq!(sent.contains(&index), is_second, "{name}: {index}");
                assert!(!is_second || twice.is_of(2, dirty.position_of(2, index)), "{name}: {index}");
                sent.push(index);
                again += u32::from(is_second);
            }
        });
        assert!((350..370).contains(&again), "{name}: {again} of {POSITIONS}");
    }
}

/// The first send of what is corrected has the time of the datapoint and other values of the same dataset, whoever makes them.
#[test]
fn what_is_corrected_is_sent_at_its_own_time_with_other_values_first() {
    for name in simulated() {
        let period_ns = opened(name, &[]).period_ns();
        let after = format!("{}ns", 30 * period_ns);
        let clock = ("clock_offset", json!("90s"));
        let plain = opened(name, std::slice::from_ref(&clock));
        let dirty = opened(name, &[clock, ("corrected", json!({ "share": 0.1, "after": after }))]);
        assert!(!plain.corrects() && dirty.corrects() && dirty.twice().is_some(), "{name}");
        let run = Run { device: 2, first: 100, count: 50 };
        let [mut right, mut of_plain, mut first, mut again] = [(); 4].map(|()| Batch::new(plain.schema()));
        plain.fill(run, &mut of_plain);
        dirty.fill(run, &mut right);
        assert_eq!(right, of_plain, "{name}: the truth is the same");
        // Behind others of its batch.
        dirty.fill(Run { device: 1, first: 0, count: 3 }, &mut first);
        dirty.fill_uncorrected(run, &mut first);
        dirty.fill_uncorrected(run, &mut again);
        assert_eq!(
            (&first.timestamps_ns()[3..], again.timestamps_ns()),
            (right.timestamps_ns(), right.timestamps_ns())
        );
        assert_eq!(first.runs()[1], run, "{name}");
        let width = plain.schema().width();
        let differ = |row: &usize| (0..width).any(|signal| again.value(signal, *row) != right.value(signal, *row));
        assert!((0..50).filter(differ).count() > 40, "{name}: the values are others");
    }
}

#[test]
fn clocks_are_off_by_no_more_than_is_asked_for() {
    for name in simulated() {
        let plain = opened(name, &[]);
        let off = opened(name, &[("clock_offset", json!("90s"))]);
        let by = [0, 1, 2].map(|device| off.timestamp_ns(device, 7) - plain.timestamp_ns(device, 7));
        let jitter_ns = plain.period_ns();
        assert!(by.iter().all(|by| by.abs() <= 90_000_000_000 + jitter_ns), "{name}: {by:?}");
        assert!(by.iter().any(|by| by.abs() > jitter_ns.min(1_000_000_000)), "{name}: {by:?}");
        let index = off.index_at(1, off.timestamp_ns(1, 1_000));
        assert_eq!(index, 1_000, "{name}");
    }
}

#[test]
fn what_does_not_fit_names_its_key() {
    for (key, value, says) in [
        ("late", json!({ "share": 0.9, "by": "1h" }), "late.share"),
        ("out_of_order", json!({ "share": 0.1, "window": 1 }), "out_of_order.window"),
        ("gaps", json!({ "share": 0.1, "lenght": "1s" }), "lenght"),
        ("clock_offset", json!("-1s"), "clock_offset"),
        ("twice", json!({ "share": 0.6, "after": "30s" }), "twice.share"),
        ("twice", json!({ "share": 0.1, "after": "1ms" }), "twice.after"),
        ("twice", json!({ "share": 0.1 }), "after"),
        ("added_signals", json!({ "signals": 0, "after": 5 }), "added_signals.signals"),
        ("added_signals", json!({ "signals": 1, "after": 0 }), "added_signals.after"),
        ("corrected", json!({ "share": 0.6, "after": "30s" }), "corrected.share"),
        ("corrected", json!({ "share": 0.1, "after": "1ms" }), "corrected.after"),
    ] {
        let config = DatasetConfig::named("compressor").unwrap().with(key, value);
        let error = config.open(1, DEFAULT_ORIGIN_NS, 1, Path::new(".")).unwrap_err().to_string();
        assert!(error.contains(says), "{key}: {error}");
    }
    let replay = DatasetConfig::named("replay").unwrap().with("late", json!({ "share": 0.1, "by": "1s" }));
    assert!(replay.open(1, DEFAULT_ORIGIN_NS, 1, Path::new(".")).is_err(), "a recording has its own order");
}
