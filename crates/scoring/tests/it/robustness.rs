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

/// The first loses 1, 1 and 0 of the greatest losses and the second 3/4, 3/4 and 1, so that the first is ahead where a quarter of the
/// first two weights is less than the third: where that is more than a fifth of all, for which the chance is (4/5)².
#[test]
fn random_weights_are_as_likely_wherever_they_lie() {
    let runs = [run(0, 0, [4.0, 4.0, 0.0]), run(1, 0, [3.0, 3.0, 1.0])];
    let ranking = ranked([1.0; 3], &runs);
    let ranks = robustness(&ranking, &runs, 4).write.unwrap().ranks;
    // Three standard errors of 10,000 draws.
    assert!((ranks[0].first_pct - 64.0).abs() < 1.5 && (ranks[1].first_pct - 36.0).abs() < 1.5, "{ranks:?}");
    assert!((ranks[0].mean_rank - 1.36).abs() < 0.015, "{ranks:?}");
    assert_eq!((ranks[0].best, ranks[0].worst), (1, 2));
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

/// Two contenders of three runs each, and a judgement that has no repetitions. a scores 1 − (12/24 + 2/4) / 2, which moves by
/// −100/24/2 with its own mean and by 100 × 12/24²/2 with that of b, so that each adds √5.787 to the standard error: 3.402 with
/// four degrees of freedom, of which t is 2.7764. b is what all are measured by, and scores 0 whatever it needs.
#[test]
fn the_interval_of_a_score_is_that_of_the_delta_method() {
    let text = "name = \"t\"\nsummary = \"t\"\n[write]\nprofile = \"w\"\n\
                weights = { server_cpu_pct = 1, difficulty = 1 }\ngrades = { \"0:wide\" = 2, \"1:wide\" = 4 }\n";
    let runs: Vec<Run> = [[10.0, 12.0, 14.0], [20.0, 24.0, 28.0]]
        .into_iter()
        .enumerate()
        .flat_map(|(backend, cpu)| (0..3).map(move |number| run(backend, number, [cpu[number], 1.0, 1.0])))
        .collect();
    let ranking = rank(&ScoreFile::from_toml(text).unwrap(), &runs).unwrap();
    let found = robustness(&ranking, &runs, 1).write.unwrap();
    let [a, b] = found.uncertainty.scores.as_slice() else { panic!("{found:?}") };
    assert!((a.score_pct - 50.0).abs() < 1e-9, "{a:?}");
    assert!((a.low_pct.unwrap() - (50.0 - 9.4457)).abs() < 1e-3, "{a:?}");
    assert!((a.high_pct.unwrap() - (50.0 + 9.4457)).abs() < 1e-3, "{a:?}");
    assert_eq!((b.score_pct, b.low_pct, b.high_pct), (0.0, Some(0.0), Some(0.0)));
    // t is 50 / 3.402 = 14.697.
    assert!(found.uncertainty.ties.is_empty(), "{found:?}");
    assert_eq!(
        (found.reference, found.pareto_front),
        (vec!["0:wide".to_owned(), "1:wide".into()], vec!["0:wide".into()])
    );
}

/// With the figures above over three weights instead of two, of which one is of a criterion that nobody loses anything of: two
/// thirds of the interval.
#[test]
fn a_criterion_without_a_loss_makes_no_score_uncertain() {
    let runs: Vec<Run> = [[10.0, 12.0, 14.0], [20.0, 24.0, 28.0]]
        .into_iter()
        .enumerate()
        .flat_map(|(backend, cpu)| (0..3).map(move |number| run(backend, number, [cpu[number], 0.0, 1.0])))
        .collect();
    let ranking = ranked([1.0; 3], &runs);
    let scores = robustness(&ranking, &runs, 1).write.unwrap().uncertainty.scores;
    assert!((scores[0].score_pct - 50.0).abs() < 1e-9, "{scores:?}");
    assert!((scores[0].low_pct.unwrap() - (50.0 - 6.2971)).abs() < 1e-3, "{scores:?}");
}

/// Nobody scores less than 0 or more than 100 %, whatever the runs spread by.
#[test]
fn an_interval_holds_no_score_that_cannot_be() {
    let runs: Vec<Run> = [[0.1, 3.0, 0.2], [100.0, 101.0, 99.0], [10.0, 170.0, 100.0]]
        .into_iter()
        .enumerate()
        .flat_map(|(backend, cpu)| (0..3).map(move |number| run(backend, number, [cpu[number], 1.0, 1.0])))
        .collect();
    let ranking = ranked([1e6, 1.0, 1.0], &runs);
    let scores = robustness(&ranking, &runs, 1).write.unwrap().uncertainty.scores;
    assert_eq!((scores[0].high_pct, scores[2].low_pct), (Some(100.0), Some(0.0)), "{scores:?}");
}

/// t = 2.5 / √(2/3) = 3.06 with four degrees of freedom has p = 0.0376: alone it tells neighbours apart, and of two such pairs
/// Holm takes neither for apart.
#[test]
fn ties_are_told_by_holm_over_all_neighbours() {
    let of = |cpu: [[f64; 3]; 3]| {
        let runs: Vec<Run> = cpu
            .into_iter()
            .enumerate()
            .flat_map(|(backend, cpu)| (0..3).map(move |number| run(backend, number, [cpu[number], 1.0, 1.0])))
            .collect();
        let ranking = ranked([1.0; 3], &runs);
        let ties = robustness(&ranking, &runs, 1).write.unwrap().uncertainty.ties;
        ties.into_iter().map(|tie| (tie.higher, tie.lower, tie.p_holm.unwrap())).collect::<Vec<_>>()
    };
    assert_eq!(of([[10.0, 10.1, 9.9], [50.0, 50.1, 49.9], [90.0, 90.1, 89.9]]), []);
    assert_eq!(of([[50.0, 51.0, 49.0], [52.5, 53.5, 51.5], [90.0, 90.1, 89.9]]), []);
    let near = of([[50.0, 51.0, 49.0], [52.5, 53.5, 51.5], [55.0, 56.0, 54.0]]);
    let names: Vec<_> = near.iter().map(|(higher, lower, _)| (higher.as_str(), lower.as_str())).collect();
    assert_eq!(names, [("0:wide", "1:wide"), ("1:wide", "2:wide")]);
    assert!(near.iter().all(|(.., p)| (0.06..0.09).contains(p)), "{near:?}");
}

/// A half's weights move the total by half as much, and only contenders that have both halves are in it.
#[test]
fn the_totals_order_changes_at_the_weights_that_are_told() {
    let mut random = fastrand::Rng::with_seed(9);
    let mut seen = 0;
    for _ in 0..40 {
        let halves = [(); 2].map(|()| [(); 3].map(|()| 0.5 + 3.0 * random.f64()));
        let mut runs: Vec<Run> = (0..4).map(|place| run(place, 0, [(); 3].map(|()| 1.0 + random.f64()))).collect();
        let reads: Vec<Run> = (0..4)
            .map(|place| run(place, 1, [(); 3].map(|()| 1.0 + random.f64())))
            .map(|run| Run { profile: "r".into(), ..run })
            .collect();
        runs.extend(reads);
        // One that only writes, and would be first.
        runs.push(run(9, 0, [0.9; 3]));
        let of = |halves: [[f64; 3]; 2]| {
            let both = ScoreFile {
                read: file(halves[1]).write.map(|half| Half { profile: "r".into(), ..half }),
                ..file(halves[0])
            };
            rank(&both, &runs).unwrap()
        };
        let first = |ranking: &Ranking| ranking.total.iter().find(|total| total.rank == 1).unwrap().contender.clone();
        let ranking = of(halves);
        assert_eq!(ranking.total.len(), 4);
        let found = robustness(&ranking, &runs, 1);
        for (half, ranges) in [found.total_by_write, found.total_by_read].into_iter().enumerate() {
            assert_eq!(ranges.len(), 3);
            for (place, range) in ranges.iter().enumerate() {
                assert_eq!((range.criterion, range.weight), (CRITERIA[place], halves[half][place]));
                for (end, beyond) in [(0, 1.0 - 1e-6), (1, 1.0 + 1e-6)] {
                    let Some(overtaking) = range.first[end].as_ref().filter(|found| found.weight > 1e-3) else {
                        continue;
                    };
                    let with = |factor: f64| {
                        let mut others = halves;
                        others[half][place] = overtaking.weight * factor;
                        first(&of(others))
                    };
                    assert_eq!((with(2.0 - beyond), &overtaking.overtaken), (first(&ranking), &first(&ranking)));
                    assert_eq!(with(beyond), overtaking.by, "{range:?}");
                    seen += 1;
                }
            }
        }
    }
    assert!(seen > 20, "{seen}");
}

/// Of a single criterion the score is the same whatever it weighs.
#[test]
fn the_weight_of_the_only_criterion_changes_nothing() {
    let text = "name = \"t\"\nsummary = \"t\"\n[write]\nprofile = \"w\"\nweights = { server_cpu_pct = 2 }\n";
    let runs = [run(0, 0, [1.0; 3]), run(1, 0, [2.0; 3])];
    let ranking = rank(&ScoreFile::from_toml(text).unwrap(), &runs).unwrap();
    let found = robustness(&ranking, &runs, 1);
    let [range] = found.write.as_ref().unwrap().weights.as_slice() else { panic!("{found:?}") };
    assert_eq!((range.weight, &range.first, &range.order), (2.0, &[None, None], &[None, None]));
    assert_eq!((found.read, found.total_by_write.len(), found.seed), (None, 0, 1));
}
