//! The datasets after benchmarks of others have their names, types, ranges and steps.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::domains::{filled, named, open};
use iotbench_core::{Batch, Column, Value, ValueType};
use iotbench_simulator::{DEFAULT_ORIGIN_NS, Dataset, DatasetConfig};
use std::{collections::HashSet, path::Path, sync::Arc};

/// Three days, as TSBS's scripts make.
const DAYS: u32 = 3 * 8640;
const TEN_MINUTES: usize = 60;

fn i64s(column: &Column) -> &[i64] {
    let Column::I64(values) = column else { panic!("{column:?}") };
    values
}

fn f64s(column: &Column) -> &[f64] {
    let Column::F64(values) = column else { panic!("{column:?}") };
    values
}

/// A column of so many trucks' three days, one truck a vector.
fn of_trucks(config: &DatasetConfig, signal: &str, trucks: u32) -> Vec<Vec<f64>> {
    let dataset = open(config, 1);
    let column = usize::from(dataset.schema().find(signal).unwrap());
    let truck = |device| f64s(&filled(&*dataset, device, 0, DAYS).columns()[column]).to_vec();
    (0..trucks).map(truck).collect()
}

fn trucks(signal: &str) -> Vec<Vec<f64>> {
    of_trucks(&DatasetConfig::named("tsbs_iot").unwrap(), signal, 40)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// A share of all values.
fn share(of: &[Vec<f64>], counts: impl Fn(f64) -> bool) -> f64 {
    let all = || of.iter().flatten();
    all().filter(|&&v| counts(v)).count() as f64 / all().count() as f64
}

fn recorded_by_tsbs(file: &str, device_tag: &str, measurement: &str) -> Arc<dyn Dataset> {
    let config = DatasetConfig::named("replay").unwrap().with("file", file).with("device_tag", device_tag);
    let config = config.with("measurement", measurement).with("broken", "skip");
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    config.open(1, DEFAULT_ORIGIN_NS, 1, &data).unwrap()
}

fn names(dataset: &dyn Dataset) -> Vec<String> {
    dataset.schema().signals().iter().map(|signal| signal.name.clone()).collect()
}

fn device_name(dataset: &dyn Dataset, device: u32) -> String {
    let mut name = String::new();
    dataset.device_name(device, &mut name);
    name
}

#[test]
fn hosts_and_trucks_have_the_signals_that_tsbs_writes() {
    let cpu = named("tsbs_cpu");
    assert_eq!(names(&*cpu), names(&*recorded_by_tsbs("tsbs_cpu.influx", "hostname", "")));
    assert_eq!((cpu.schema().uniform_type(), device_name(&*cpu, 17)), (Some(ValueType::I64), "host_17".into()));
    let iot = named("tsbs_iot");
    let parts = ["readings", "diagnostics"].map(|part| recorded_by_tsbs("tsbs_iot.timescaledb", "name", part));
    assert_eq!(names(&*iot), parts.iter().flat_map(|part| names(&**part)).collect::<Vec<_>>());
    let types: Vec<ValueType> = iot.schema().signals().iter().map(|signal| signal.value_type).collect();
    assert!(types[..9].iter().all(|t| *t == ValueType::F64) && types[9] == ValueType::I64, "{types:?}");
    assert_eq!(device_name(&*iot, 4), "truck_4");
}

#[test]
fn all_hosts_measure_at_the_same_times() {
    let dataset = named("tsbs_cpu");
    let times = |device| filled(&*dataset, device, 100, 50).timestamps_ns().to_vec();
    assert_eq!(times(0), times(99));
    assert_eq!(times(0)[0], DEFAULT_ORIGIN_NS + 1_000_000_000_000);
}

#[test]
fn usages_walk_from_0_to_100_by_steps_of_one() {
    let dataset = named("tsbs_cpu");
    let mut starts = HashSet::new();
    let (mut seen, mut squares, mut steps) = ([0_u32; 101], 0, 0);
    for device in 0..20 {
        for first in [0, 1_000_000_000] {
            let batch = filled(&*dataset, device, first, DAYS);
            for values in batch.columns().iter().map(i64s) {
                starts.insert(values[0]);
                values.iter().for_each(|&v| seen[usize::try_from(v).unwrap()] += 1);
                let moves = values.windows(2).map(|w| w[1] - w[0]);
                assert!(moves.clone().all(|step| step.abs() <= 5));
                squares += moves.map(|step| step * step).sum::<i64>();
                steps += i64::from(DAYS) - 1;
            }
        }
    }
    assert!(starts.len() > 90, "{} distinct starts", starts.len());
    // Cutting the fractions off two values adds 1/6 to the square of their difference.
    let variance = squares as f64 / steps as f64 - 1.0 / 6.0;
    assert!((0.93..1.07).contains(&variance), "{variance}");
    let at = |usage: usize| f64::from(seen[usage]) / f64::from(seen.iter().sum::<u32>());
    assert!((0.004..0.011).contains(&at(100)), "at the upper end {}", at(100));
    assert!((0.011..0.024).contains(&at(0)), "at the lower end {}", at(0));
    assert!((1..100).all(|usage| (0.005..0.016).contains(&at(usage))), "{seen:?}");
}

#[test]
fn readings_of_trucks_have_the_ranges_steps_and_decimals_of_tsbs() {
    let readings = [
        ("latitude", 90.0, 0.005, 1e5),
        ("longitude", 180.0, 0.005, 1e5),
        ("elevation", 5000.0, 10.0, 1.0),
        ("heading", 360.0, 5.0, 1.0),
        ("grade", 100.0, 5.0, 1.0),
        ("fuel_consumption", 50.0, 5.0, 10.0),
    ];
    for (signal, high, step, power) in readings {
        let low = if signal.ends_with("itude") { -high } else { 0.0 };
        let mut steps = Vec::new();
        for values in trucks(signal) {
            assert!(values.iter().all(|v| (low..=high).contains(v)), "{signal}");
            assert!(values.iter().all(|v| (v * power - (v * power).round()).abs() < 1e-6), "{signal}");
            let inside = |v: f64| v > low + 0.1 * (high - low) && v < high - 0.1 * (high - low);
            steps.extend(values.windows(2).filter(|w| inside(w[0]) && inside(w[1])).map(|w| (w[1] - w[0]).powi(2)));
        }
        let deviation = mean(&steps).sqrt() / (step / 3.0_f64.sqrt());
        assert!((0.95..1.06).contains(&deviation), "{signal}: {deviation} of what it should be");
    }
}

#[test]
fn trucks_stand_for_ten_minutes_at_times_and_drive_at_others() {
    let velocities = trucks("velocity");
    let standing = share(&velocities, |v| v == 0.0);
    assert!((0.2..0.42).contains(&standing), "{standing}");
    assert!(velocities.iter().flatten().all(|v| (0.0..=100.0).contains(v) && v.fract() == 0.0));
    let means = |values: &Vec<f64>| values.chunks(TEN_MINUTES).map(mean).collect::<Vec<f64>>();
    let buckets: Vec<Vec<f64>> = velocities.iter().map(means).collect();
    let still = share(&buckets, |mean| mean < 1.0);
    assert!((0.15..0.4).contains(&still), "{still} of ten minutes");
    // Driving sessions of four hours, and days of more than ten hours, of some trucks and not of all.
    let driving = |buckets: &[f64], more_than: usize| buckets.iter().filter(|mean| **mean > 1.0).count() > more_than;
    let sessions = buckets.iter().flat_map(|truck| truck.chunks_exact(24)).filter(|four| driving(four, 21)).count();
    assert!((72..600).contains(&sessions), "{sessions} of 720");
    let days = buckets.iter().flat_map(|truck| truck.chunks_exact(144)).filter(|day| driving(day, 60)).count();
    assert!((90..120).contains(&days), "{days} of 120");
}

#[test]
fn trucks_stand_still_as_long_as_wanted() {
    let standing = |share: f64| DatasetConfig::named("tsbs_iot").unwrap().with("standing", share);
    let stopped = |wanted| share(&of_trucks(&standing(wanted), "velocity", 40), |v| v == 0.0);
    let (never, little, much) = (stopped(0.0), stopped(0.1), stopped(0.33));
    assert!(never < 0.06 && (0.06..0.18).contains(&(little - never)) && (0.2..0.42).contains(&(much - never)));
    let error = standing(0.34).open(1, DEFAULT_ORIGIN_NS, 1, Path::new(".")).unwrap_err();
    assert!(error.to_string().contains("standing") && error.to_string().contains("0.33"), "{error}");
}

#[test]
fn tanks_are_low_a_tenth_of_the_time_and_filled_up_again() {
    let tanks = trucks("fuel_state");
    assert!(tanks.iter().flatten().all(|v| (0.0..=1.0).contains(v) && (v * 10.0).fract() == 0.0));
    let low = share(&tanks, |v| v < 0.1);
    assert!((0.085..0.115).contains(&low), "{low}");
    for tank in &tanks {
        let filled = tank.windows(2).filter(|w| w[1] > w[0]).count();
        assert!((12..=14).contains(&filled), "filled up {filled} times in three days");
        assert!(tank.windows(2).all(|w| w[1] <= w[0] || (w[0] == 0.0 && w[1] >= 0.9)));
    }
    let at_once: HashSet<u64> = tanks.iter().map(|tank| tank[0].to_bits()).collect();
    assert!(at_once.len() > 7, "they begin with {} states", at_once.len());
}

#[test]
fn loads_change_in_one_of_twenty_datapoints_and_are_high_as_often_as_those_of_tsbs() {
    let loads = trucks("current_load");
    assert!(loads.iter().flatten().all(|v| (0.0..5000.0).contains(v) && v.fract() == 0.0));
    let changes: usize = loads.iter().map(|load| load.windows(2).filter(|w| w[0] != w[1]).count()).sum();
    let of_all = changes as f64 / (40.0 * f64::from(DAYS));
    assert!((0.048..0.053).contains(&of_all), "{of_all}");
    for (capacity, expected) in [(2000.0, 0.64), (5000.0, 0.1), (1500.0, 0.73)] {
        let high = share(&loads, |load| load / capacity > 0.9);
        assert!((high - expected).abs() < 0.02, "{high} of {capacity}");
    }
}

#[test]
fn trucks_break_down_and_are_repaired() {
    let dataset = named("tsbs_iot");
    let (mut sound, mut broken_down, mut breakdowns) = (0, 0, 0);
    for device in 0..40 {
        let batch = filled(&*dataset, device, 0, DAYS);
        let statuses = i64s(&batch.columns()[9]);
        assert!(statuses.iter().all(|status| (0..=5).contains(status)) && statuses[0] == 0);
        let buckets = statuses.chunks(TEN_MINUTES);
        let broken: Vec<bool> = buckets.map(|b| 2 * b.iter().filter(|s| **s != 0).count() >= b.len()).collect();
        breakdowns += broken.windows(2).filter(|w| !w[0] && w[1]).count();
        broken_down += broken.iter().filter(|b| **b).count();
        sound += broken.iter().filter(|b| !**b).count();
    }
    assert!(sound > 1000 && broken_down > 1000 && breakdowns > 500, "{sound}, {broken_down}, {breakdowns}");
}

fn text(value: Option<Value<'_>>) -> String {
    match value {
        Some(Value::Text(text)) => text.to_owned(),
        other => panic!("{other:?}"),
    }
}

fn record_bytes(dataset: &dyn Dataset, batch: &Batch, device: u32, row: usize) -> usize {
    device_name(dataset, device).len() + 16 + text(batch.value(1, row)).len() + text(batch.value(2, row)).len()
}

#[test]
fn readings_of_substations_are_records_of_1024_bytes() {
    let dataset = named("tpcx_iot");
    let mut units = HashSet::new();
    for device in [0, 9, 10, 99, 100, 12_345, u32::MAX] {
        let batch = filled(&*dataset, device, 1_000_000_000, 100);
        assert!((0..100).all(|row| record_bytes(&*dataset, &batch, device, row) == 1024), "device {device}");
        assert!((0..100).all(|row| batch.value(1, row) == batch.value(1, 0)), "a sensor keeps its unit");
        units.insert(text(batch.value(1, 0)));
        for row in 0..100 {
            let longest = dataset.schema().signals()[2].max_text_bytes as usize;
            assert!(text(batch.value(2, row)).len() <= longest);
        }
        let paddings: HashSet<String> = (0..100).map(|row| text(batch.value(2, row))).collect();
        assert_eq!(paddings.len(), 100);
    }
    assert!(units.len() > 2, "{units:?}");
    let long = open(&DatasetConfig::named("tpcx_iot").unwrap().with("bytes", 64), 1);
    let batch = filled(&*long, u32::MAX, 0, 1);
    assert_eq!(record_bytes(&*long, &batch, u32::MAX, 0), 64);
}

#[test]
fn substations_are_equipped_alike_and_measure_for_themselves() {
    let unit = |dataset: &dyn Dataset, device| text(filled(dataset, device, 0, 1).value(1, 0));
    let kinds = |sensors: u32, from: u32| {
        let dataset = open(&DatasetConfig::named("tpcx_iot").unwrap().with("sensors", sensors), 1);
        (from..from + 150).map(|device| unit(&*dataset, device)).collect::<Vec<_>>()
    };
    assert_eq!(kinds(200, 0), kinds(200, 600));
    assert_ne!(kinds(200, 0), kinds(200, 150));
    assert_eq!(kinds(150, 0), kinds(150, 150));
    let dataset = named("tpcx_iot");
    assert_ne!(filled(&*dataset, 3, 0, 9).columns()[0], filled(&*dataset, 203, 0, 9).columns()[0]);
    for (key, value) in [("sensors", 0), ("bytes", 63), ("bytes", (1 << 20) + 1)] {
        let config = DatasetConfig::named("tpcx_iot").unwrap().with(key, value);
        let error = config.open(1, DEFAULT_ORIGIN_NS, 1, Path::new(".")).unwrap_err();
        assert_eq!(error.key(), Some(key), "{error}");
    }
}

#[test]
fn padding_has_six_bits_a_byte() {
    let batch = filled(&*named("tpcx_iot"), 0, 0, 300);
    let mut counts = [0_u32; 128];
    (0..300).for_each(|row| text(batch.value(2, row)).bytes().for_each(|b| counts[usize::from(b)] += 1));
    let total: u32 = counts.iter().sum();
    let shares = counts.iter().filter(|&&n| n > 0).map(|&n| f64::from(n) / f64::from(total));
    let bits: f64 = shares.map(|p| -p * p.log2()).sum();
    assert!(bits > 5.99, "{bits} bits a character");
}

#[test]
fn sensors_have_types_in_blocks_and_the_values_of_a_step_that_follows_from_the_device() {
    let dataset = named("iot_benchmark");
    let types: Vec<_> = dataset.schema().signals().iter().map(|signal| signal.value_type).collect();
    let count = |value_type| types.iter().filter(|own| **own == value_type).count();
    assert_eq!(types.len(), 200);
    let counts = [ValueType::U16, ValueType::I64, ValueType::F32, ValueType::F64, ValueType::Text].map(count);
    assert_eq!(counts, [33, 67, 33, 33, 34], "as IoT-Benchmark divides them");
    assert_eq!((types[32], types[33], types[199]), (ValueType::U16, ValueType::I64, ValueType::Text));
    let (first, third) = (filled(&*dataset, 0, 0, 200), filled(&*dataset, 2, 0, 200));
    for signal in 0..200 {
        for row in 0..100 {
            assert_eq!(first.value(signal, row), first.value(signal, row + 100), "they begin again");
            assert_eq!(third.value(signal, row), first.value(signal, 3 * row % 100));
        }
    }
    let differ = |signal: usize| (1..100).any(|row| first.value(signal, row) != first.value(signal, 0));
    let moving = (33..166).filter(|&signal| differ(signal)).count();
    assert!((75..=125).contains(&moving), "four of five are no constants: {moving}");
    for row in 0..100 {
        assert_eq!(text(first.value(199, row)).len(), 2);
        assert!(
            f64s(&first.columns()[150])[row] * 100.0 % 1.0 < 1e-6
                || f64s(&first.columns()[150])[row] * 100.0 % 1.0 > 1.0 - 1e-6
        );
    }
}

#[test]
fn what_iot_benchmark_would_refuse_is_refused_with_its_key() {
    for (key, value) in [
        ("sensors", "0"),
        ("buffer", "0"),
        ("text_bytes", "0"),
        ("decimals", "10"),
        ("types", "\"1:1\""),
        ("types", "\"0:0:0:0:0:0\""),
        ("functions", "\"1:1:1:1:x\""),
    ] {
        let value: serde_json::Value = serde_json::from_str(value).unwrap();
        let config = DatasetConfig::named("iot_benchmark").unwrap().with(key, value.clone());
        let error = config.open(1, DEFAULT_ORIGIN_NS, 1, Path::new(".")).unwrap_err();
        assert_eq!(error.key(), Some(key), "{value}: {error}");
    }
    let numbers = DatasetConfig::named("iot_benchmark").unwrap().with("types", "1:1:1:1:1:0");
    let types = open(&numbers, 1);
    assert!(types.schema().signals().iter().all(|signal| signal.value_type.is_number()));
}
