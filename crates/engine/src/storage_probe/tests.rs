//! Drift, levels and what probing costs, without a disk.

use super::*;

const US: u64 = 1_000;
const MS: u64 = 1_000_000;

/// A probe of so many appends with this median, which vary by a third around it as those of a disk do.
fn probe(appends: u64, median_ns: u64) -> StorageProbe {
    let around = |place: u64| median_ns * 2 / 3 + median_ns * 2 / 3 * place / (appends - 1).max(1);
    StorageProbe::new((0..appends).map(around).collect())
}

#[test]
fn the_figures_of_a_probe_are_those_of_its_sample() {
    let probe = StorageProbe::new((1..=200).rev().map(|n| n * 10 * US).collect());
    assert_eq!((probe.appends(), probe.median_ns()), (200, Some(1000 * US)));
    assert_eq!((probe.quantile_ns(0.99), probe.quantile_ns(1.0)), (Some(1980 * US), Some(2000 * US)));
    // The sum is 200 · 201 / 2 · 10 µs.
    assert_eq!(probe.took_ns(), 201 * MS);
    assert!((probe.per_s().unwrap() - 200.0 / 0.201).abs() < 1e-9);
    let none = StorageProbe::default();
    assert_eq!((none.quantile_ns(0.5), none.per_s(), none.median_ns()), (None, None, None));
    let both = StorageProbe::pooled([&StorageProbe::new(vec![3, 1]), &StorageProbe::new(vec![2])]);
    assert_eq!(both, StorageProbe::new(vec![1, 2, 3]));
}

#[test]
fn storage_has_drifted_when_its_median_changed_by_more_than_a_quarter() {
    let before = probe(200, 300 * US);
    let drifted = |after_us: u64| before.has_drifted_to(&probe(200, after_us * US));
    assert_eq!((drifted(370), drifted(380)), (Some(false), Some(true)));
    assert_eq!((drifted(245), drifted(235)), (Some(false), Some(true)), "faster is another storage too");
    assert_eq!(drifted(1200), Some(true));
}

#[test]
fn few_appends_convict_of_a_great_change_only_and_fewer_of_none() {
    let drifted = |appends, after_us: u64| probe(200, 300 * US).has_drifted_to(&probe(appends, after_us * US));
    assert_eq!((drifted(16, 400), drifted(16, 1200)), (Some(false), Some(true)));
    assert_eq!((drifted(15, 1200), probe(15, 300).median_ns()), (None, None));
}

/// A probe of 200 appends with this median, of which a part waits for a processor: the thread itself for so long, and a thread
/// of the kernel, which nobody tells, for so long.
fn beside_others(median_ns: u64, waits: u64, own_ns: u64, kernels_ns: u64) -> StorageProbe {
    let append = |(place, append_ns): (u64, u64)| {
        let is_waiting = place * 7 % 20 < waits;
        let (own_ns, kernels_ns) = if is_waiting { (own_ns, kernels_ns) } else { (0, 0) };
        let [took, waited] = [append_ns + own_ns + kernels_ns, own_ns].map(Duration::from_nanos);
        ProbeTime { took, waited }
    };
    StorageProbe::of(&(0..).zip(probe(200, median_ns).appends_ns).map(append).collect::<Vec<_>>())
}

#[test]
fn what_the_thread_waits_for_a_processor_is_no_time_of_the_storage() {
    let (alone, busy) = (probe(200, 300 * US), beside_others(300 * US, 20, 900 * US, 0));
    assert_eq!((alone.median_ns(), busy.median_ns()), (busy.median_ns(), Some(alone.median_ns().unwrap())));
    assert_eq!((alone.has_drifted_to(&busy), busy.has_drifted_to(&alone)), (Some(false), Some(false)));
    assert_eq!((alone.waiting_share(), StorageProbe::default().waiting_share()), (Some(0.0), None));
    assert!((busy.waiting_share().unwrap() - 0.75).abs() < 0.01, "{:?}", busy.waiting_share());
    let pooled = StorageProbe::pooled([&alone, &busy]).waiting_share().unwrap();
    assert!((pooled - 0.6).abs() < 0.01, "900 of 1,500: {pooled}");
    // A longer wait than the append would be one of another time.
    let append = ProbeTime { took: Duration::from_micros(3), waited: Duration::from_micros(4) };
    assert_eq!(StorageProbe::of(&[append]).waiting_share(), Some(1.0));
}

#[test]
fn busy_processors_alone_are_no_drift_and_storage_that_is_slower_beside_them_is_one() {
    let (quiet, busy) = (probe(200, 300 * US), beside_others(300 * US, 14, 900 * US, 900 * US));
    assert!(busy.median_ns() > Some(1_000 * US), "threads of the kernel wait too: {:?}", busy.median_ns());
    assert_eq!((quiet.has_drifted_to(&busy), busy.has_drifted_to(&quiet)), (Some(false), Some(false)));
    let slow = beside_others(1_200 * US, 14, 900 * US, 900 * US);
    assert_eq!((quiet.has_drifted_to(&slow), busy.has_drifted_to(&slow)), (Some(true), Some(true)));
    // Where no processor was waited for, the median alone tells it: the fastest may be what a cache takes.
    let half = StorageProbe::new((0..200).map(|n| if n < 60 { 300 * US } else { 1_200 * US }).collect());
    assert_eq!(quiet.has_drifted_to(&half), Some(true));
}

#[test]
fn busy_processors_are_no_drift_over_a_search_either() {
    let busy = |place: u64, slow: u64| match place {
        0..10 => beside_others(300 * US, 2, 900 * US, 0),
        _ => beside_others(slow * US, 14, 900 * US, 900 * US),
    };
    let of = |slow| StorageLevels::of(&(0..20).map(|place| busy(place, slow)).collect::<Vec<_>>()).unwrap();
    assert!(of(300).ratio() > 3.0 && !of(300).have_drifted(), "{:?}", of(300));
    assert!(of(1_200).have_drifted(), "{:?}", of(1_200));
}

/// Medians of probes as they are found in a search, in microseconds.
fn levels_of(medians_us: &[u64]) -> StorageLevels {
    let probes: Vec<StorageProbe> = medians_us.iter().map(|&us| probe(200, us * US)).collect();
    StorageLevels::of(&probes).unwrap()
}

#[test]
fn a_slow_drift_is_seen_that_no_two_probes_tell() {
    let medians: Vec<u64> = (0..24).map(|n| 300 + 6 * n).collect();
    let neighbours = medians.windows(2).map(|two| probe(200, two[0] * US).has_drifted_to(&probe(200, two[1] * US)));
    assert!(neighbours.into_iter().all(|drifted| drifted == Some(false)));
    let levels = levels_of(&medians);
    assert!(levels.have_drifted(), "{levels:?}");
}

#[test]
fn a_change_is_seen_wherever_it_is_and_a_single_slow_probe_is_none() {
    let (trials, slow) = (20, 4 * 300);
    // The last trial was run again: two probes.
    for changed in 2..trials - 1 {
        let medians: Vec<u64> = (0..trials).map(|n| if n < changed { 300 } else { slow }).collect();
        assert!(levels_of(&medians).ratio() > 3.9, "from {changed} on");
    }
    for changed in 0..trials {
        let medians: Vec<u64> = (0..trials).map(|n| if n == changed { slow } else { 300 }).collect();
        assert!(!levels_of(&medians).have_drifted(), "{changed} alone");
    }
    assert_eq!(StorageLevels::of(&[probe(15, 300 * US)]), None);
}

#[test]
fn work_is_told_without_what_was_waited_and_by_levels() {
    let piece = |took, waited| ProbeTime { took: Duration::from_micros(took), waited: Duration::from_micros(waited) };
    let of = |us: u64| {
        let pieces = [piece(us, 0), piece(us + 900, 899), piece(us, 0), piece(us - 9, 0), piece(us + 9, 0)];
        StorageProbe::default().beside(&pieces)
    };
    assert_eq!((of(500).work_ns(), StorageProbe::default().work_ns()), (Some(500_000), None));
    assert_eq!(StorageProbe::default().beside(&[piece(500, 0); 4]).work_ns(), None, "too few");
    let levels = |us: &[u64]| work_levels(&us.iter().map(|&us| of(us)).collect::<Vec<_>>());
    assert_eq!(levels(&[500, 510, 505, 900, 502, 508]), Some([505_000, 508_000]), "one slow probe is no level");
    assert_eq!(levels(&[500, 500, 500, 500, 700, 700, 700, 700]), Some([500_000, 700_000]));
    assert_eq!(work_levels(&[StorageProbe::new(vec![1])]), None);
}
