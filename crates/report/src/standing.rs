//! The order of contenders by one figure, and how sure it is. Pure.

use crate::{
    contender::{Contender, Field},
    document::{Document, Interval},
};
use iotbench_statistics::{MeanInterval, sittings_interval, t_interval};

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
    pub(crate) places: Vec<Ranked>,
    /// Who is not ranked, and why.
    pub(crate) unranked: Vec<(String, String)>,
}

/// A contender's place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ranked {
    /// Which contender of the report: its colour.
    pub(crate) place: usize,
    pub(crate) name: String,
    pub(crate) promise: String,
    /// Valid runs.
    pub(crate) runs: usize,
    /// Whether they are sittings, whose interval tells where another one would lie.
    pub(crate) has_sittings: bool,
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
    fn order(self, places: &mut [Ranked]) {
        let sittings = places.iter().all(|place| place.has_sittings);
        let range = |place: &Ranked| match self {
            Self::Capacity if sittings => place.range,
            Self::Capacity => place.range.map(Range::with_sittings),
            Self::Throughput | Self::ResponseP99 | Self::ResponseMean => place.range.filter(|_| self.tells(place)),
        };
        let ranges: Vec<Option<Range>> = places.iter().map(range).collect();
        for (place, (best, worst)) in places.iter_mut().zip(ranks(&ranges, self.more_is_better())) {
            (place.best, place.worst) = (best, worst);
        }
    }

    /// Whether a contender's interval tells where another run of it would lie. That of a single run's figure does not; that of
    /// a capacity is one over sittings, or is widened by what sittings may lie apart.
    pub(crate) fn tells(self, place: &Ranked) -> bool {
        self == Self::Capacity || place.runs > 1
    }

    pub(crate) fn more_is_better(self) -> bool {
        matches!(self, Self::Capacity | Self::Throughput)
    }

    /// How ranges are made, in a sentence; `sittings`: each contender has several.
    fn method(self, sittings: bool) -> &'static str {
        match self {
            Self::Capacity if sittings => {
                "The interval is the 90 % confidence interval over sittings: Student's t over the logarithms of what each found."
            }
            Self::Capacity => {
                "The interval reaches from the greatest load that was sustained to the least that was not; that of several \
                 runs spans those of each. Not all have several sittings: only what lies more than 3.5 times apart is in an order."
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

    /// Whether each contender has several sittings, so that their intervals order them.
    pub(crate) fn is_of_sittings(&self) -> bool {
        self.places.iter().all(|place| place.has_sittings)
    }

    /// Why sustained loads are in no order, where they are not.
    pub(crate) fn sittings_lacking(&self) -> &'static str {
        if self.places.iter().any(|place| place.has_sittings) {
            "Not all have several sittings"
        } else {
            "One sitting each"
        }
    }

    /// How ranges are made, in a sentence.
    pub(crate) fn method(&self) -> &'static str {
        self.measure.method(self.is_of_sittings())
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

fn place(contender: &Contender<'_>, measure: Measure) -> Result<Ranked, String> {
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
    let sittings =
        if measure == Measure::Capacity && contender.has_sittings() { sittings_interval(&figures) } else { None };
    let is_open_above =
        || valid.iter().filter_map(|document| measure.range(document)).any(|range| range.high.is_none());
    let of_sittings =
        |found: MeanInterval| Range { low: found.low, high: Some(found.high).filter(|_| !is_open_above()) };
    Ok(Ranked {
        place: contender.place,
        name: contender.name.clone(),
        promise: contender.promise(),
        runs: valid.len(),
        has_sittings: sittings.is_some(),
        estimate: sittings.map_or_else(|| figures.iter().sum::<f64>() / figures.len() as f64, |found| found.mean),
        is_upper_end: valid.iter().any(|document| measure.own_delay(document).is_some()),
        range: sittings.map(of_sittings).or_else(|| range(&valid, &figures, measure)),
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
mod tests;
