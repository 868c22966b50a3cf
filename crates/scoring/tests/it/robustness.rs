//! What a ranking rests on: its weights, held against ranking again with others, and its repetitions, held against simulated
//! ones whose truth is known.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use iotbench_scoring::{Criterion, Half, Ranking, Run, ScoreFile, Table, pareto_front, rank, robustness};
use std::collections::BTreeMap;

const CRITERIA: [Criterion; 3] = [Criterion::ServerCpuPct, Criterion::ServerMemoryBytes, Criterion::ResponseMeanUs];

fn file(weights: [f64; 3]) -> ScoreFile {
    let half = Half {
        profile: "w".into(),
        weights: CRITERIA.into_iter().zip(weights).collect(),
        grades: iotbench_scoring::Grades::default(),
    };
    ScoreFile {
        name: "test".into(),
        summary: "a test".into(),
        study: None,
        across_durability: false,
        formula: iotbench_scoring::Formula::AsWritten,
        write: Some(half),
        read: None,
    }
}

fn run(backend: usize, number: usize, losses: [f64; 3]) -> Run {
    Run {
        name: format!("{backend} {number}"),
        profile: "w".into(),
        target: format!("{backend}:wide"),
        strategy: None,
        promise: "OS crash".into(),
        refused: None,
        figures: CRITERIA.into_iter().zip(losses).collect(),
    }
}

fn ranked(weights: [f64; 3], runs: &[Run]) -> Ranking {
    rank(&file(weights), runs).unwrap()
}

fn first(table: &Table) -> String {
    table.rows.iter().find(|row| row.rank == 1).unwrap().contender.clone()
}

fn order(table: &Table) -> BTreeMap<String, usize> {
    table.rows.iter().map(|row| (row.contender.clone(), row.rank)).collect()
}

/// Just before each weight that is told the order stands, just beyond it the other is ahead.
#[test]
fn the_order_changes_at_the_weights_that_are_told_and_nowhere_before() {
    let mut random = fastrand::Rng::with_seed(1);
    let mut seen = 0;
    for _ in 0..60 {
        let weights = [(); 3].map(|()| 0.5 + 3.0 * random.f64());
        let runs: Vec<Run> = (0..5).map(|place| run(place, 0, [(); 3].map(|()| 1.0 + random.f64()))).collect();
        let ranking = ranked(weights, &runs);
        let table = ranking.write.as_ref().unwrap();
        let found = robustness(&ranking, &runs, 1).write.unwrap();
        let with = |place: usize, weight: f64| {
            let mut others = weights;
            others[place] = weight;
            ranked(others, &runs).write.unwrap()
        };
        for (place, range) in found.weights.iter().enumerate() {
            for (end, beyond) in [(0, 1.0 - 1e-6), (1, 1.0 + 1e-6)] {
                let before = 2.0 - beyond;
                match &range.first[end] {
                    Some(overtaking) if overtaking.weight > 1e-3 => {
                        assert_eq!(first(&with(place, overtaking.weight * before)), first(table), "{range:?}");
                        assert_eq!(first(&with(place, overtaking.weight * beyond)), overtaking.by, "{range:?}");
                        seen += 1;
                    }
                    Some(_) => {}
                    None => {
                        let extreme = if end == 0 { 1e-9 } else { 1e9 };
                        assert_eq!(first(&with(place, extreme)), first(table), "{range:?}");
                    }
                }
                if let Some(overtaking) = range.order[end].as_ref().filter(|overtaking| overtaking.weight > 1e-3) {
                    assert_eq!(order(&with(place, overtaking.weight * before)), order(table), "{range:?}");
                    assert_ne!(order(&with(place, overtaking.weight * beyond)), order(table), "{range:?}");
                }
            }
        }
    }
    assert!(seen > 50, "{seen}");
}

#[test]
fn whoever_is_first_under_any_weights_is_of_the_pareto_front() {
    let mut random = fastrand::Rng::with_seed(2);
    for _ in 0..30 {
        let runs: Vec<Run> = (0..6).map(|place| run(place, 0, [(); 3].map(|()| 1.0 + random.f64()))).collect();
        let ranking = ranked([1.0; 3], &runs);
        let table = ranking.write.as_ref().unwrap();
        let front = pareto_front(table);
        assert!(front.contains(&first(table)));
        let found = robustness(&ranking, &runs, 3).write.unwrap();
        for ranks in &found.ranks {
            assert!(ranks.first_pct == 0.0 || front.contains(&ranks.contender), "{ranks:?} {front:?}");
            assert!(ranks.best as f64 <= ranks.mean_rank && ranks.mean_rank <= ranks.worst as f64, "{ranks:?}");
        }
        let firsts: f64 = found.ranks.iter().map(|ranks| ranks.first_pct).sum();
        assert!((firsts - 100.0).abs() < 1e-9, "{firsts}");
        assert_eq!(robustness(&ranking, &runs, 3).write.unwrap().ranks, found.ranks, "the seed decides");
    }
}

/// Of two criteria, each of which one contender wins alone, half of all weights make either first.
#[test]
fn random_weights_divide_an_even_contest_evenly() {
    let runs = [run(0, 0, [1.0, 2.0, 1.0]), run(1, 0, [2.0, 1.0, 1.0])];
    let ranking = ranked([1.0; 3], &runs);
    for ranks in robustness(&ranking, &runs, 4).write.unwrap().ranks {
        assert!((48.0..52.0).contains(&ranks.first_pct), "{ranks:?}");
    }
}

/// Runs whose criteria rise and fall together, around means that are known.
fn simulated(random: &mut fastrand::Rng, count: usize) -> Vec<Run> {
    let mut normal = || {
        let radius = (-2.0 * (1.0 - random.f64()).ln()).sqrt();
        radius * (std::f64::consts::TAU * random.f64()).cos()
    };
    let mut runs = Vec::new();
    for (backend, means) in MEANS.into_iter().enumerate() {
        for number in 0..count {
            let (shared, own) = (normal(), normal());
            runs.push(run(
                backend,
                number,
                [
                    means[0] * (1.0 + 0.05 * shared),
                    means[1] * (1.0 + 0.04 * shared + 0.02 * own),
                    means[2] * (1.0 - 0.03 * shared + 0.05 * normal()),
                ],
            ));
        }
    }
    runs
}

const MEANS: [[f64; 3]; 3] = [[50.0, 4.0, 900.0], [30.0, 9.0, 700.0], [80.0, 5.0, 500.0]];

#[test]
fn the_interval_of_a_score_covers_95_percent() {
    let exact: Vec<Run> = MEANS.into_iter().enumerate().map(|(backend, means)| run(backend, 0, means)).collect();
    let weights = [3.0, 1.0, 2.0];
    let truth: Vec<f64> = ranked(weights, &exact).write.unwrap().rows.iter().map(|row| row.score_pct).collect();
    for count in [5, 10] {
        let mut random = fastrand::Rng::with_seed(5);
        let mut covered = [0; 3];
        for _ in 0..2_000 {
            let runs = simulated(&mut random, count);
            let ranking = ranked(weights, &runs);
            let scores =
                iotbench_scoring::uncertainty(&ranking, ranking.write.as_ref().unwrap(), &runs, |c| &c.write_runs)
                    .scores;
            for ((score, truth), covered) in scores.iter().zip(&truth).zip(&mut covered) {
                *covered += u32::from(score.low_pct.unwrap() <= *truth && *truth <= score.high_pct.unwrap());
            }
        }
        println!("n = {count}: {covered:?} of 2000");
        assert!(covered.iter().all(|covered| (1_860..=1_950).contains(covered)), "{count}: {covered:?}");
    }
}

#[test]
fn neighbours_that_differ_by_chance_are_warned_of_and_others_are_not() {
    let near: Vec<Run> = [[50.0, 51.0, 49.5], [50.2, 49.0, 50.8], [99.0, 100.0, 101.0]]
        .into_iter()
        .enumerate()
        .flat_map(|(backend, cpu)| (0..3).map(move |number| run(backend, number, [cpu[number], 1.0, 1.0])))
        .collect();
    let ranking = ranked([1.0; 3], &near);
    let found = robustness(&ranking, &near, 1).write.unwrap().uncertainty;
    assert_eq!(found.ties.len(), 1, "{:?}", found.ties);
    assert!(found.ties[0].p_holm.unwrap() > 0.05 && !format!("{:?}", found.ties).contains("2:wide"));
    let single = ranked([1.0; 3], &[near[0].clone(), near[3].clone()]);
    let found = robustness(&single, &near, 1).write.unwrap().uncertainty;
    assert_eq!((found.ties.len(), found.ties[0].p_holm, found.scores[0].low_pct), (1, None, None));
}

/// Strategies share the runs that write: these are one sample, whichever of them is the worst in a criterion.
#[test]
fn contenders_that_share_their_runs_have_one_interval_and_are_no_neighbours() {
    let mut random = fastrand::Rng::with_seed(6);
    let runs = simulated(&mut random, 5);
    let mut file = file([3.0, 1.0, 2.0]);
    file.read = file.write.clone().map(|half| Half { profile: "r".into(), ..half });
    let read = |strategy: &str, run: &Run| Run {
        name: format!("{} {strategy}", run.name),
        profile: "r".into(),
        strategy: Some(strategy.into()),
        ..run.clone()
    };
    let reads = runs.iter().flat_map(|run| [read("individual", run), read("bulk", run)]);
    let all: Vec<Run> = runs.iter().cloned().chain(reads).collect();
    let alone = robustness(&rank(&file, &runs).unwrap(), &runs, 1).write.unwrap().uncertainty;
    let shared = robustness(&rank(&file, &all).unwrap(), &all, 1).write.unwrap().uncertainty;
    assert_eq!((alone.scores.len(), shared.scores.len()), (3, 6));
    for (place, score) in shared.scores.iter().enumerate() {
        let own = &alone.scores[place / 2];
        for (shared, alone) in [(score.low_pct, own.low_pct), (score.high_pct, own.high_pct)] {
            assert!((shared.unwrap() - alone.unwrap()).abs() < 1e-9, "{score:?} {own:?}");
        }
    }
    assert_eq!(shared.ties.len(), alone.ties.len(), "{:?}", shared.ties);
}
