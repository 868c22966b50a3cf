//! The five hypotheses of the industrial monitoring study, answered from what was measured.

use crate::{ClusterSize, scaling::scaling};
use serde::{Deserialize, Serialize};

/// What the study supposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Hypothesis {
    /// Capacity grows linearly with the nodes.
    LinearScalability,
    /// Industrial workloads are handled.
    IndustrialWorkloads,
    /// How it scales does not depend on the type of data.
    WorkloadIndependence,
    /// It goes on when a node fails.
    Resiliency,
    /// Reads do not slow writes down.
    ReadWriteIndependence,
}

/// A hypothesis as a suite file holds it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StudyHypothesis {
    /// Which.
    pub hypothesis: Hypothesis,
    /// What the study found.
    pub study: String,
}

/// What there is to judge by, of one contender.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evidence {
    /// The contender.
    pub contender: String,
    /// Measurement units that clusters of some sizes sustained.
    pub units: Vec<ClusterSize>,
    /// Smart meters that they sustained.
    pub meters: Vec<ClusterSize>,
    /// What the load noticed of processes that were killed.
    pub failures: Vec<Failure>,
    /// Writes with reads beside them and without.
    pub mixed: Vec<MixedWrites>,
}

/// What the load noticed of a failure.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// What was done, such as `kill cassandra 1`.
    pub what: String,
    /// The nodes of the cluster.
    pub nodes: u32,
    /// Operations acknowledged a second before.
    pub before_per_s: Option<f64>,
    /// The same from the failure until the load had recovered, or to the end; none: that was not a whole second.
    pub during_per_s: Option<f64>,
    /// Operations that failed meanwhile.
    pub errors: u64,
    /// How long it took to recover, in seconds; none: it did not.
    pub recovery_s: Option<f64>,
    /// Acknowledged datapoints that were not stored at the end, if that is known.
    pub missing_points: Option<u64>,
}

/// Writes a second of a mixed load.
#[derive(Clone, Debug, PartialEq)]
pub struct MixedWrites {
    /// The profile.
    pub profile: String,
    /// With its reads.
    pub mixed_per_s: f64,
    /// Without them, by equally many users.
    pub alone_per_s: f64,
}

/// A hypothesis with its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnsweredHypothesis {
    /// Its name.
    pub name: &'static str,
    /// What the study found.
    pub study: String,
    /// What was found here, a sentence for each contender.
    pub here: Vec<String>,
}

/// Writes beside reads are as many as alone if they are at least this part of them.
const AS_MANY: f64 = 0.95;

impl StudyHypothesis {
    /// The answer from what was measured.
    #[must_use]
    pub fn answer(&self, evidence: &[Evidence]) -> AnsweredHypothesis {
        let of_one = |evidence: &Evidence| format!("{}: {}.", evidence.contender, self.hypothesis.judged_by(evidence));
        let here = evidence.iter().map(of_one).collect();
        AnsweredHypothesis { name: self.hypothesis.name(), study: self.study.clone(), here }
    }
}

impl Hypothesis {
    /// For people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::LinearScalability => "Linear scalability",
            Self::IndustrialWorkloads => "Industrial workloads",
            Self::WorkloadIndependence => "Workload independence",
            Self::Resiliency => "Resiliency",
            Self::ReadWriteIndependence => "Read/write independence",
        }
    }

    fn judged_by(self, evidence: &Evidence) -> String {
        match self {
            Self::LinearScalability => linear(&evidence.units),
            Self::IndustrialWorkloads => industrial(evidence),
            Self::WorkloadIndependence => independent(evidence),
            Self::Resiliency => resilient(&evidence.failures),
            Self::ReadWriteIndependence => separate(&evidence.mixed),
        }
    }
}

fn linear(sizes: &[ClusterSize]) -> String {
    match scaling(sizes) {
        Err(reasons) => format!("n/a: {reasons}"),
        Ok(fit) => {
            let verdict = if fit.is_near_linear() { "near linear" } else { "less than linear" };
            format!("{verdict}: from {} to {} nodes, capacity grows with nodes^{:.2}", fit.from, fit.to, fit.exponent)
        }
    }
}

fn greatest(sizes: &[ClusterSize]) -> Option<&ClusterSize> {
    sizes.iter().max_by(|a, b| a.capacity.total_cmp(&b.capacity))
}

fn industrial(evidence: &Evidence) -> String {
    let handled = |sizes: &[ClusterSize], what: &str| match greatest(sizes) {
        None => format!("{what} not measured"),
        Some(size) if size.capacity <= 0.0 => format!("no {what} sustained"),
        Some(size) => format!("{} {what} on {}", size.capacity, nodes(size.nodes)),
    };
    if evidence.units.is_empty() && evidence.meters.is_empty() {
        return "n/a: neither workload was measured".into();
    }
    let both = [(&evidence.units, "measurement units"), (&evidence.meters, "smart meters")];
    both.map(|(sizes, what)| handled(sizes, what)).join(", ")
}

fn nodes(nodes: u32) -> String {
    if nodes == 1 { "1 node".into() } else { format!("{nodes} nodes") }
}

fn independent(evidence: &Evidence) -> String {
    let per_node = |sizes: &[ClusterSize]| {
        let size = greatest(sizes)?;
        Some(format!("{:.0} values/s a node on {}", size.values_per_s? / f64::from(size.nodes), nodes(size.nodes)))
    };
    let (Some(units), Some(meters)) = (per_node(&evidence.units), per_node(&evidence.meters)) else {
        return "n/a: needs both workloads".into();
    };
    let figures = format!("{units} of measurement units, {meters} of smart meters");
    match (scaling(&evidence.units), scaling(&evidence.meters)) {
        (Ok(units), Ok(meters)) => {
            let (units, meters) = (units.exponent, meters.exponent);
            format!("{figures}; capacity grows with nodes^{units:.2} and nodes^{meters:.2}")
        }
        (Err(reasons), _) | (_, Err(reasons)) => {
            format!("{figures}; how each scales n/a: {reasons}")
        }
    }
}

fn resilient(failures: &[Failure]) -> String {
    if failures.is_empty() {
        return "n/a: no node was killed under load".into();
    }
    failures.iter().map(noticed).collect::<Vec<_>>().join("; ")
}

fn noticed(failure: &Failure) -> String {
    let rate = |rate: Option<f64>| rate.map_or_else(|| "–".into(), |rate| format!("{rate:.1}"));
    let course = match (failure.during_per_s, failure.recovery_s) {
        (None, Some(_)) => "no whole second below 90 % of that before it had recovered".into(),
        (during, recovery_s) => {
            let recovered = recovery_s.map_or_else(|| "not recovered".into(), |s| format!("recovered after {s:.1} s"));
            format!("{} meanwhile, {} errors, {recovered}", rate(during), failure.errors)
        }
    };
    let missing = failure.missing_points.map_or_else(
        || "what is stored not known".into(),
        |missing| format!("{missing} acknowledged datapoints missing"),
    );
    format!(
        "{} of {}: {} operations/s before, {course}, {missing}",
        failure.what,
        nodes(failure.nodes),
        rate(failure.before_per_s)
    )
}

fn separate(mixed: &[MixedWrites]) -> String {
    if mixed.is_empty() {
        return "n/a: no mixed load was sustained and then written alone".into();
    }
    let one = |writes: &MixedWrites| {
        let part = writes.mixed_per_s / writes.alone_per_s;
        let verdict = if part >= AS_MANY { "reads do not slow writes down" } else { "reads slow writes down" };
        format!(
            "{}: {verdict}, {:.1} writes/s beside them and {:.1} alone",
            writes.profile, writes.mixed_per_s, writes.alone_per_s
        )
    };
    mixed.iter().map(one).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(nodes: u32, capacity: f64) -> ClusterSize {
        let values_per_s = Some(capacity * 750.0);
        ClusterSize { nodes, capacity, values_per_s, shares_machine: false }
    }

    fn answer(hypothesis: Hypothesis, evidence: &Evidence) -> String {
        let asked = StudyHypothesis { hypothesis, study: "as printed".into() };
        let answered = asked.answer(std::slice::from_ref(evidence));
        assert_eq!(answered.study, "as printed");
        answered.here.join(" ")
    }

    fn evidence() -> Evidence {
        let failure = Failure {
            what: "kill cassandra 1".into(),
            nodes: 3,
            before_per_s: Some(40.0),
            during_per_s: Some(22.25),
            errors: 3,
            recovery_s: Some(4.5),
            missing_points: Some(0),
        };
        let mixed = |mixed_per_s| MixedWrites { profile: "pmu_wrs".into(), mixed_per_s, alone_per_s: 40.0 };
        Evidence {
            contender: "kairosdb:wide".into(),
            units: vec![size(3, 50.0), size(6, 100.0), size(12, 200.0)],
            meters: vec![size(3, 1000.0)],
            failures: vec![failure],
            mixed: vec![mixed(39.0), mixed(20.0)],
        }
    }

    #[test]
    fn each_hypothesis_is_answered_by_figures() {
        let evidence = evidence();
        assert_eq!(
            answer(Hypothesis::LinearScalability, &evidence),
            "kairosdb:wide: near linear: from 3 to 12 nodes, capacity grows with nodes^1.00."
        );
        assert_eq!(
            answer(Hypothesis::IndustrialWorkloads, &evidence),
            "kairosdb:wide: 200 measurement units on 12 nodes, 1000 smart meters on 3 nodes."
        );
        let independence = answer(Hypothesis::WorkloadIndependence, &evidence);
        assert!(independence.contains("12500 values/s a node on 12 nodes"), "{independence}");
        assert!(independence.contains("n/a: 1 cluster size was measured, and a fit needs 3"), "{independence}");
        assert_eq!(
            answer(Hypothesis::Resiliency, &evidence),
            "kairosdb:wide: kill cassandra 1 of 3 nodes: 40.0 operations/s before, 22.2 meanwhile, 3 errors, recovered \
             after 4.5 s, 0 acknowledged datapoints missing."
        );
        let mixed = answer(Hypothesis::ReadWriteIndependence, &evidence);
        assert!(
            mixed.contains("reads do not slow writes down, 39.0") && mixed.contains("reads slow writes down, 20.0")
        );
    }

    /// Then there is no rate to tell, and a zero would read like an outage.
    #[test]
    fn a_failure_that_no_second_shows_has_no_rate_meanwhile() {
        let mut evidence = evidence();
        evidence.failures[0].during_per_s = None;
        evidence.failures[0].recovery_s = Some(0.0);
        assert_eq!(
            answer(Hypothesis::Resiliency, &evidence),
            "kairosdb:wide: kill cassandra 1 of 3 nodes: 40.0 operations/s before, no whole second below 90 % of that \
             before it had recovered, 0 acknowledged datapoints missing."
        );
    }

    #[test]
    fn without_evidence_every_answer_says_what_is_missing() {
        for hypothesis in [
            Hypothesis::LinearScalability,
            Hypothesis::IndustrialWorkloads,
            Hypothesis::WorkloadIndependence,
            Hypothesis::Resiliency,
            Hypothesis::ReadWriteIndependence,
        ] {
            let said = answer(hypothesis, &Evidence { contender: "x".into(), ..Evidence::default() });
            assert!(said.starts_with("x: n/a: "), "{said}");
        }
    }
}
