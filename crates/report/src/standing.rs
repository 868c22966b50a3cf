//! The order of contenders by one figure, and how sure it is. Pure.

use crate::{
    contender::{Contender, Field},
    document::{Document, Interval},
};
use iotbench_statistics::{MeanInterval, t_interval};

/// What contenders are ranked by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measure {
    /// The greatest sustained load: more is better.
    Capacity,
    /// Operations a second where users wait for nothing but answers: more is better.
    Throughput,
    /// The 99th percentile of the response time: less is better.
    ResponseP99,
    /// The mean response time: less is better.
    ResponseMean,
}

/// Contenders, the best first, with those that cannot be ranked.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Standing {
    pub(crate) measure: Measure,
    pub(crate) places: Vec<Place>,
    /// Who is not ranked, and why.
    pub(crate) unranked: Vec<(String, String)>,
}

/// A contender's place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Place {
    /// Which contender of the report: its colour.
    pub(crate) place: usize,
    pub(crate) name: String,
    pub(crate) promise: String,
    /// Valid runs.
    pub(crate) runs: usize,
    /// Users, operations/s or devices; microseconds.
    pub(crate) estimate: f64,
    /// Whether it is the upper end of a range, of one run at the least: the client's own delay is a part of it.
    pub(crate) is_upper_end: bool,
    /// Where the figure lies; none: not known.
    pub(crate) range: Option<Range>,
    /// The best rank that the ranges allow, from 1.
    pub(crate) best: usize,
    /// The worst.
    pub(crate) worst: usize,
}

/// An interval; one that is open above has no upper end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Range {
    pub(crate) low: f64,
    pub(crate) high: Option<f64>,
}

/// So many times apart capacities of one sitting each have to be before one is surely the greater. A sitting's own trials say
/// nothing of the next sitting's: those of one system were seen to lie three times apart on one machine. When sittings have a
/// standard deviation of 45 % (lognormal), 95 % of the pairs lie within 3.3 times.
pub(crate) const SPREAD_OF_SITTINGS: f64 = 3.5;

impl Range {
    /// Where another sitting's capacity may lie, so that two such ranges overlap when these are less than
    /// [`SPREAD_OF_SITTINGS`] times apart.
    fn with_sittings(self) -> Self {
        let factor = SPREAD_OF_SITTINGS.sqrt();
        Self { low: self.low / factor, high: self.high.map(|high| high * factor) }
    }

    /// Whether all of it is below all of the other.
    fn is_below(self, other: Self) -> bool {
        self.high.is_some_and(|high| high < other.low)
    }
}

impl Measure {
    /// The capacity where all have one; the throughput where it was the database alone that limited it; else the highest
    /// quantile that all have.
    fn of(field: &Field<'_>) -> Self {
        let documents: Vec<&Document> = field.contenders.iter().flat_map(Contender::valid).collect();
        let all = |measure: Self| documents.iter().all(|document| measure.figure(document).is_some());
        // A capacity of which even the least load failed has no figure, and is a capacity all the same.
        if documents.iter().all(|document| document.capacity.is_some()) {
            Self::Capacity
        } else if documents.iter().all(|document| is_saturating(document)) && all(Self::Throughput) {
            Self::Throughput
        } else if all(Self::ResponseP99) {
            Self::ResponseP99
        } else {
            Self::ResponseMean
        }
    }

    fn figure(self, document: &Document) -> Option<f64> {
        let response = document.latency.as_ref().map(|latency| &latency.by_operation.response);
        match self {
            Self::Capacity => document.capacity.as_ref()?.limit(),
            Self::Throughput => document.throughput.as_ref()?.operations_per_s,
            Self::ResponseP99 => response?.at_most("p99"),
            Self::ResponseMean => response?.at_most("mean"),
        }
    }

    /// The range of a response time of which the client's own delay is a part.
    fn own_delay(self, document: &Document) -> Option<(f64, f64)> {
        let response = &document.latency.as_ref()?.by_operation.response;
        match self {
            Self::Capacity | Self::Throughput => None,
            Self::ResponseP99 => response.range("p99"),
            Self::ResponseMean => response.range("mean"),
        }
    }

    /// Where the figure of one run lies, by that run alone.
    fn range(self, document: &Document) -> Option<Range> {
        if let Some((low, high)) = self.own_delay(document) {
            return Some(Range { low, high: Some(high) });
        }
        let of = |interval: &Interval| Some(Range { low: interval.low?.max(0.0), high: Some(interval.high?) });
        match self {
            Self::Capacity => {
                let capacity = document.capacity.as_ref()?;
                Some(Range { low: capacity.lower.map(f64::from)?, high: capacity.upper.map(f64::from) })
            }
            Self::Throughput => of(document.steady.as_ref()?.operations_per_s.ci95.as_ref()?),
            Self::ResponseP99 => of(document.latency.as_ref()?.by_operation.response.ci95.get("p99")?),
            Self::ResponseMean => of(document.steady.as_ref()?.response_us.as_ref()?.ci95.as_ref()?),
        }
    }

    /// Gives each its ranks.
    fn order(self, places: &mut [Place]) {
        let range = |place: &Place| match self {
            Self::Capacity => place.range.map(Range::with_sittings),
            Self::Throughput | Self::ResponseP99 | Self::ResponseMean => place.range.filter(|_| self.tells(place)),
        };
        let ranges: Vec<Option<Range>> = places.iter().map(range).collect();
        for (place, (best, worst)) in places.iter_mut().zip(ranks(&ranges, self.more_is_better())) {
            (place.best, place.worst) = (best, worst);
        }
    }

    /// Whether a contender's interval tells where another run of it would lie. That of a single run's figure does not; that of
    /// a capacity is widened by what sittings may lie apart.
    pub(crate) fn tells(self, place: &Place) -> bool {
        self == Self::Capacity || place.runs > 1
    }

    pub(crate) fn more_is_better(self) -> bool {
        matches!(self, Self::Capacity | Self::Throughput)
    }

    /// How ranges are made, in a sentence.
    pub(crate) fn method(self) -> &'static str {
        match self {
            Self::Capacity => {
                "The interval reaches from the greatest load that was sustained to the least that was not; that of several \
                 runs spans those of each. It is of one sitting: only what lies more than 3.5 times apart is in an order."
            }
            Self::ResponseP99 => {
                "The interval is the 95 % confidence interval: of one run that of the quantile for independent operations, \
                 of several runs Student's t over them."
            }
            Self::Throughput | Self::ResponseMean => {
                "The interval is the 95 % confidence interval: of one run by batch means of its seconds, of several runs \
                 Student's t over them."
            }
        }
    }
}

/// Whether all its users start the next operation as soon as they have the answer.
fn is_saturating(document: &Document) -> bool {
    let groups = &document.load.groups;
    !groups.is_empty() && groups.iter().all(|group| group.think_ms == Some(0.0))
}

impl Standing {
    /// Ranks the contenders by their valid runs.
    pub(crate) fn of(field: &Field<'_>) -> Self {
        let measure = Measure::of(field);
        let (mut places, mut unranked) = (Vec::new(), Vec::new());
        for contender in &field.contenders {
            match place(contender, measure) {
                Ok(place) => places.push(place),
                Err(reason) => unranked.push((contender.name.clone(), reason)),
            }
        }
        places.sort_by(|a, b| a.estimate.total_cmp(&b.estimate));
        if measure.more_is_better() {
            places.reverse();
        }
        measure.order(&mut places);
        Self { measure, places, unranked }
    }
}

/// The best and the worst rank of each that their ranges allow: one is surely before another where their ranges do not
/// overlap. A range that is not known can lie anywhere.
fn ranks(ranges: &[Option<Range>], more_is_better: bool) -> Vec<(usize, usize)> {
    let surely_before = |a: Option<Range>, b: Option<Range>| {
        a.zip(b).is_some_and(|(a, b)| if more_is_better { b.is_below(a) } else { a.is_below(b) })
    };
    let rank = |own: &Option<Range>| {
        let before = ranges.iter().filter(|other| surely_before(**other, *own)).count();
        let behind = ranges.iter().filter(|other| surely_before(*own, **other)).count();
        (1 + before, ranges.len() - behind)
    };
    ranges.iter().map(rank).collect()
}

fn place(contender: &Contender<'_>, measure: Measure) -> Result<Place, String> {
    let valid: Vec<&Document> = contender.valid().collect();
    if valid.is_empty() {
        let verdicts = contender.runs.iter().map(|run| {
            let verdict = &run.document.verdict;
            format!("{}: {}", verdict.status.name(), verdict.reasons.join("; "))
        });
        return Err(verdicts.collect::<Vec<_>>().join("; "));
    }
    let figures: Option<Vec<f64>> = valid.iter().map(|document| measure.figure(document)).collect();
    let Some(figures) = figures else {
        return Err(match measure {
            Measure::Capacity => "not even the least load that was tried was sustained".into(),
            Measure::ResponseP99 | Measure::ResponseMean if valid.iter().any(|document| is_bound(document)) => {
                "operations had no answer, or were never started: only a lower bound of the mean response is known"
                    .into()
            }
            Measure::Throughput | Measure::ResponseP99 | Measure::ResponseMean => {
                "no operation was acknowledged".into()
            }
        });
    };
    Ok(Place {
        place: contender.place,
        name: contender.name.clone(),
        promise: contender.promise(),
        runs: valid.len(),
        estimate: figures.iter().sum::<f64>() / figures.len() as f64,
        is_upper_end: valid.iter().any(|document| measure.own_delay(document).is_some()),
        range: range(&valid, &figures, measure),
        best: 1,
        worst: 1,
    })
}

/// Whether of its response times only bounds are known.
fn is_bound(document: &Document) -> bool {
    document.latency.as_ref().is_some_and(|latency| latency.by_operation.response.at_least.is_some())
}

fn range(valid: &[&Document], figures: &[f64], measure: Measure) -> Option<Range> {
    let ranges = || valid.iter().map(|document| measure.range(document)).collect::<Option<Vec<_>>>();
    let lower_ends = valid.iter().filter_map(|document| Some(measure.own_delay(document)?.0));
    match (measure, valid) {
        (_, [one]) => measure.range(one),
        (Measure::Capacity, _) => ranges()?
            .into_iter()
            .reduce(|a, b| Range { low: a.low.min(b.low), high: a.high.zip(b.high).map(|(a, b)| a.max(b)) }),
        _ => t_interval(figures)
            .map(MeanInterval::not_below_zero)
            // Each may be as little as the lower end of its range.
            .map(|interval| Range { low: lower_ends.fold(interval.low, f64::min), high: Some(interval.high) }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(low: f64, high: f64) -> Option<Range> {
        Some(Range { low, high: Some(high) })
    }

    #[test]
    fn only_what_does_not_overlap_is_in_an_order() {
        let ranges = [range(1.0, 2.0), range(1.5, 3.0), range(4.0, 5.0)];
        assert_eq!(ranks(&ranges, false), [(1, 2), (1, 2), (3, 3)]);
        assert_eq!(ranks(&ranges, true), [(2, 3), (2, 3), (1, 1)]);
    }

    /// Capacities of one sitting each of two systems that are the same: what they sustain differs from sitting to sitting by a
    /// factor with this standard deviation, and each is found within an interval of 5 %.
    #[test]
    fn systems_that_are_the_same_are_seldom_put_in_an_order() {
        const COMPARISONS: u32 = 4_000;
        let mut random = Uniform(1);
        for deviation in [0.05_f64, 0.15, 0.45] {
            let log_deviation = (1.0 + deviation * deviation).ln().sqrt();
            let mut ordered = 0;
            for _ in 0..COMPARISONS {
                let mut places = [0, 1].map(|place| {
                    let capacity = 3_000.0 * (log_deviation * random.normal()).exp();
                    let low = capacity * (1.0 - 0.05 * random.next());
                    Place { range: range(low, low * 1.05), ..named(place, 1) }
                });
                Measure::Capacity.order(&mut places);
                ordered += u32::from(places[0].best == places[0].worst);
            }
            assert!(ordered <= COMPARISONS / 20, "{ordered} of {COMPARISONS} with {deviation}");
        }
        let mut places = [named(0, 1), named(1, 1)];
        (places[0].range, places[1].range) = (range(1_000.0, 1_050.0), range(3_700.0, 3_900.0));
        Measure::Capacity.order(&mut places);
        assert_eq!(places.map(|place| place.best), [2, 1], "what lies further apart is in an order");
    }

    /// Numbers from 0 to 1 (SplitMix64, Steele 2014).
    struct Uniform(u64);

    impl Uniform {
        fn next(&mut self) -> f64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = self.0;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
        }

        /// Box and Muller.
        fn normal(&mut self) -> f64 {
            let (radius, angle) = ((-2.0 * (1.0 - self.next()).ln()).sqrt(), std::f64::consts::TAU * self.next());
            radius * angle.cos()
        }
    }

    fn named(place: usize, runs: usize) -> Place {
        let (name, promise) = (format!("system {place}"), String::new());
        Place {
            place,
            name,
            promise,
            runs,
            estimate: 1.0,
            is_upper_end: false,
            range: range(0.9, 1.1),
            best: 1,
            worst: 1,
        }
    }

    #[test]
    fn one_run_does_not_tell_where_another_would_lie() {
        let of = |runs| named(0, runs);
        assert_eq!((Measure::ResponseP99.tells(&of(1)), Measure::ResponseMean.tells(&of(2))), (false, true));
    }

    #[test]
    fn what_is_not_known_can_be_anywhere() {
        let above = Some(Range { low: 4.0, high: None });
        assert_eq!(ranks(&[range(1.0, 2.0), None, range(4.0, 5.0)], false), [(1, 2), (1, 3), (2, 3)]);
        assert_eq!(ranks(&[range(1.0, 2.0), above, range(5.0, 6.0)], true), [(3, 3), (1, 2), (1, 2)]);
    }
}
