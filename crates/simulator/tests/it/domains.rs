//! The values of each dataset are what the studies describe.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use iotbench_core::{Batch, Column, Run, Value};
use iotbench_simulator::{DEFAULT_ORIGIN_NS, Dataset, DatasetConfig, MACHINE_AMPLITUDE, MachineCycles};
use proptest::prelude::*;
use std::{collections::HashSet, ops::Range, path::Path, sync::Arc};

const SECOND_NS: i64 = 1_000_000_000;

pub fn open(config: &DatasetConfig, seed: u64) -> Arc<dyn Dataset> {
    config.open(seed, DEFAULT_ORIGIN_NS, 100, Path::new(".")).unwrap()
}

pub fn named(name: &str) -> Arc<dyn Dataset> {
    open(&DatasetConfig::named(name).unwrap(), 1)
}

pub fn filled(dataset: &dyn Dataset, device: u32, first: u64, count: u32) -> Batch {
    let mut batch = Batch::new(dataset.schema());
    dataset.fill(Run { device, first, count }, &mut batch);
    batch
}

fn u16s(column: &Column) -> &[u16] {
    let Column::U16(values) = column else { panic!("{column:?}") };
    values
}

fn f32s(column: &Column) -> &[f32] {
    let Column::F32(values) = column else { panic!("{column:?}") };
    values
}

#[test]
fn rates_are_those_of_the_studies() {
    let periods = [
        ("machine", SECOND_NS / 1000),
        ("pmu", SECOND_NS / 50),
        ("smart_meter", 900 * SECOND_NS),
        ("weather", 60 * SECOND_NS),
        ("greenhouse", 30 * SECOND_NS),
        ("tsbs_cpu", 10 * SECOND_NS),
        ("tsbs_iot", 10 * SECOND_NS),
        ("tpcx_iot", SECOND_NS / 20),
        ("iot_benchmark", 5 * SECOND_NS),
    ];
    for (name, period_ns) in periods {
        assert_eq!(named(name).period_ns(), period_ns, "{name}");
    }
    for name in [
        "pmu",
        "smart_meter",
        "weather",
        "greenhouse",
        "compressor",
        "text",
        "tsbs_cpu",
        "tsbs_iot",
        "tpcx_iot",
        "iot_benchmark",
    ] {
        assert_eq!(named(name).resolution_ns() % 1_000_000, 0, "{name} falls on whole milliseconds");
    }
    assert_eq!(named("machine").resolution_ns(), 1);
}

#[test]
fn machine_times_are_late_by_less_than_a_tenth_of_a_millisecond() {
    let batch = filled(&*named("machine"), 0, 0, 10_000);
    let late: Vec<i64> = batch.timestamps_ns().iter().map(|t| (t - DEFAULT_ORIGIN_NS) % 1_000_000).collect();
    assert!(late.iter().all(|&ns| ns < 100_000) && late.iter().any(|&ns| ns > 90_000));
}

#[test]
fn machine_values_have_twelve_bits_and_use_them() {
    let batch = filled(&*named("machine"), 0, 1 << 40, 20_000);
    for column in batch.columns() {
        let values = u16s(column);
        assert!(values.iter().all(|&v| v <= MACHINE_AMPLITUDE));
        assert!(values.iter().max().unwrap() - values.iter().min().unwrap() > 3500);
    }
}

/// The study's search for the cycle at a datapoint, over the abscissa: start and end.
fn found_cycle(abscissa: &[u16], at: usize) -> Option<Range<usize>> {
    let (half, eighth) = (MACHINE_AMPLITUDE / 2, MACHINE_AMPLITUDE / 8);
    let first_after = |from: usize, is: &dyn Fn(u16) -> bool| (from..abscissa.len()).find(|&i| is(abscissa[i]));
    let last_before = |to: usize, is: &dyn Fn(u16) -> bool| (0..to).rev().find(|&i| is(abscissa[i]));
    let t1 = first_after(at + 1, &|v| v > half)?;
    let t2 = last_before(t1, &|v| v < eighth)?;
    let t3 = last_before(t2, &|v| v > half)?;
    let t4 = (t3..=t2).min_by_key(|&i| abscissa[i])?;
    let t5 = first_after(t1 + 1, &|v| v < eighth)?;
    Some(t4..t5)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_search_finds_the_true_cycle_of_a_machine(
        seed: u64, noise in 0.0..=0.025_f64, jitter in 0.0..=0.5_f64, length in 64_u32..=1000, first in 0_u64..1 << 40, at_percent in 20_u32..80
    ) {
        let config = DatasetConfig::named("machine").unwrap().with("noise", noise).with("cycle_jitter", jitter).with("cycles", 1000.0 / f64::from(length));
        let dataset = open(&config, seed);
        let count = length * 12;
        let batch = filled(&*dataset, 5, first, count);
        let abscissa = u16s(&batch.columns()[0]);
        let found = found_cycle(abscissa, (count * at_percent / 100) as usize).unwrap();

        let truth = MachineCycles::new(1000.0, 1000.0 / f64::from(length), jitter, seed).unwrap();
        let number = truth.number_at(5, first + found.end as u64 - 1);
        let cycle = truth.cycle(5, number);
        let rise = f64::from(MACHINE_AMPLITUDE) / (cycle.end - cycle.start) as f64;
        let noise_bound = 2.0 * 3.4642 * noise * f64::from(MACHINE_AMPLITUDE) / rise + 2.0;
        let start = (i64::try_from(first + found.start as u64).unwrap() - cycle.start) as f64;
        prop_assert!((0.0..=noise_bound).contains(&start), "starts {} after the true start, bound {}", start, noise_bound);
        prop_assert_eq!(i64::try_from(first + found.end as u64).unwrap(), cycle.end);
        prop_assert_eq!(rising_flanks(&abscissa[found]), 1);
    }

    #[test]
    fn cycles_follow_each_other_without_gap(seed: u64, device: u32, jitter in 0.0..=0.5_f64, index in 0_u64..1 << 45) {
        let cycles = MachineCycles::new(1000.0, 3.0, jitter, seed).unwrap();
        let number = cycles.number_at(device, index);
        let cycle = cycles.cycle(device, number);
        prop_assert!(cycle.contains(&index.cast_signed()));
        prop_assert_eq!(cycles.cycle(device, number + 1).start, cycle.end);
        let length = (cycle.end - cycle.start) as f64;
        prop_assert!((1000.0 / 3.0 * (1.0 - jitter) - 1.0..=1000.0 / 3.0 * (1.0 + jitter) + 1.0).contains(&length));
    }
}

/// How often values rise from below an eighth to above half of the amplitude.
fn rising_flanks(values: &[u16]) -> usize {
    let mut low = false;
    let mut flanks = 0;
    for &value in values {
        if value < MACHINE_AMPLITUDE / 8 {
            low = true;
        } else if value > MACHINE_AMPLITUDE / 2 && std::mem::take(&mut low) {
            flanks += 1;
        }
    }
    flanks
}

#[test]
fn a_machine_makes_three_cycles_a_second() {
    let batch = filled(&*named("machine"), 0, 0, 100_000);
    assert!((299..=301).contains(&rising_flanks(u16s(&batch.columns()[0]))));
}

#[test]
fn pmu_signals_are_noisy_sines_and_a_byte() {
    let batch = filled(&*named("pmu"), 3, 0, 50_000);
    assert_eq!(batch.columns().len(), 15);
    for column in &batch.columns()[..14] {
        let values = f32s(column);
        assert!(values.iter().all(|v| v.abs() < 101.0));
        let distinct: HashSet<u32> = values.iter().map(|v| v.to_bits()).collect();
        assert!(distinct.len() > 10_000, "{} distinct values", distinct.len());
        assert!(values.windows(5).all(|w| (w[0] - w[4]).abs() < 1.0), "12.5 Hz repeats after 4 datapoints");
    }
    let digital: HashSet<u32> = f32s(&batch.columns()[14]).iter().map(|v| v.to_bits()).collect();
    assert!(f32s(&batch.columns()[14]).iter().all(|&v| (0.0..=255.0).contains(&v) && v.fract() == 0.0));
    assert!(digital.len() > 240);
}

#[test]
fn meters_never_run_backwards() {
    let dataset = named("smart_meter");
    for device in 0..20 {
        for first in [0, 35_000, 1 << 40] {
            let batch = filled(&*dataset, device, first, 5000);
            assert!(f32s(&batch.columns()[0]).is_sorted());
        }
    }
    let batch = filled(&*dataset, 0, 0, 35_040);
    let year = f32s(&batch.columns()[0]);
    assert!((1500.0..5500.0).contains(&(year[35_039] - year[0])), "a household's year in kWh");
}

fn text_bytes(batch: &Batch, row: usize) -> usize {
    let length = |column: &Column| match column.get(row) {
        Some(Value::Text(text)) => text.len(),
        other => panic!("{other:?}"),
    };
    batch.columns().iter().map(length).sum()
}

#[test]
fn weather_records_have_48_to_128_bytes() {
    let dataset = named("weather");
    let batch = filled(&*dataset, 0, 0, 60_000);
    let lengths: HashSet<usize> = (0..batch.len()).map(|row| text_bytes(&batch, row)).collect();
    assert_eq!(lengths, (48..=128).collect());
    for (signal, column) in dataset.schema().signals().iter().zip(batch.columns()) {
        for row in 0..column.len() {
            let Some(Value::Text(text)) = column.get(row) else { panic!("no text") };
            assert!(text.len() <= signal.max_text_bytes as usize && text.parse::<f64>().is_ok(), "{text}");
        }
    }
}

#[test]
fn weather_records_can_have_one_length() {
    let batch = filled(&*open(&DatasetConfig::named("weather").unwrap().with("record_bytes", 128), 1), 0, 0, 20_000);
    assert!((0..batch.len()).all(|row| text_bytes(&batch, row) == 128));
}

#[test]
fn typed_weather_is_the_same_weather() {
    let texts = filled(&*named("weather"), 2, 500_000, 2000);
    let typed = filled(&*open(&DatasetConfig::named("weather").unwrap().with("typed", true), 1), 2, 500_000, 2000);
    for (text, number) in texts.columns().iter().zip(typed.columns()) {
        for row in 0..text.len() {
            let (a, b) = (text.get(row).unwrap().as_f64().unwrap(), number.get(row).unwrap().as_f64().unwrap());
            assert!((a - b).abs() <= 0.001, "{a} against {b}");
        }
    }
}

#[test]
fn the_soil_is_watered_while_the_valve_is_open() {
    let dataset = named("greenhouse");
    let batch = filled(&*dataset, 0, 0, 2880);
    let open = |row| batch.value(8, row) == Some(Value::F64(1.0));
    let moisture = |row| batch.value(0, row).unwrap().as_f64().unwrap();
    let openings: Vec<usize> = (1..2700).filter(|&r| open(r) && !open(r - 1)).collect();
    assert!((3..=4).contains(&openings.len()), "four times a day");
    assert!(openings.iter().all(|&r| moisture(r + 40) > moisture(r) + 10.0));
    assert!((0..batch.len()).all(|r| (0.0..=100.0).contains(&moisture(r))));
}

#[test]
fn compressor_records_have_22_attributes_besides_the_tag_and_unique_ids() {
    let dataset = named("compressor");
    assert_eq!(dataset.schema().width(), 22);
    let mut ids = HashSet::new();
    for device in 0..20 {
        let batch = filled(&*dataset, device, 0, 1000);
        for row in 0..batch.len() {
            let Some(Value::Text(id)) = batch.value(0, row) else { panic!("no id") };
            assert!(id.len() == 24 && ids.insert(id.to_owned()), "{id}");
            let Some(Value::I64(received_ms)) = batch.value(6, row) else { panic!("no time") };
            assert!((20..200).contains(&(received_ms - batch.timestamps_ns()[row] / 1_000_000)));
        }
        assert_eq!(batch.value(2, 0), batch.value(2, 999), "a tag stays where it is");
    }
}

#[test]
fn text_records_have_1024_printable_bytes_with_six_bits_each() {
    let batch = filled(&*named("text"), 0, 0, 1000);
    let mut counts = [0_u32; 128];
    for row in 0..batch.len() {
        let Some(Value::Text(text)) = batch.value(0, row) else { panic!("no text") };
        assert_eq!(text.len(), 1024);
        assert!(text.bytes().all(|b| (0x20..0x7f).contains(&b)));
        text.bytes().for_each(|b| counts[usize::from(b)] += 1);
    }
    let total: u32 = counts.iter().sum();
    let bits: f64 =
        counts.iter().filter(|&&c| c > 0).map(|&c| f64::from(c) / f64::from(total)).map(|p| -p * p.log2()).sum();
    assert!(bits > 5.99, "{bits} bits a character");
}
