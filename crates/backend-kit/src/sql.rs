//! What the SQL of several databases says alike: figures over groups of rows, and what lies between consecutive ones.

mod rows;
mod select;
mod values;

pub use rows::{AskRows, SqlRows};
pub use select::{Over, SelectSql};
pub use values::Values;

use crate::{ask::What, grouped_by::GroupedBy, percentile::is_among};
use iotbench_core::{Aggregate, BucketWidth};

/// Figures that are worked out by grouping: of each device, or of all of them or those of one value of a tag together, or of each of the
/// buckets.
#[derive(Clone, Copy, Debug)]
pub struct Grouping<'a> {
    aggregates: &'a [Aggregate],
    width: Option<BucketWidth>,
    by: GroupedBy,
}

impl<'a> Grouping<'a> {
    /// The figures that are asked for; `None` where no grouping gives them all: the first and the last value of a bucket need
    /// an order of time within it, and not every SQL has percentiles.
    #[must_use]
    pub fn of(what: What<'a>) -> Option<Self> {
        Self::with_percentiles(what).filter(|grouping| !is_among(grouping.aggregates))
    }

    /// The same with percentiles, for whoever has a function for them: [`Self::functions`] names none.
    #[must_use]
    pub fn with_percentiles(what: What<'a>) -> Option<Self> {
        let by = GroupedBy::of(what);
        let (aggregates, width) = match what {
            What::Figures(aggregates) => return Some(Self { aggregates, width: None, by }),
            What::Buckets(aggregates, width) | What::TotalBuckets(aggregates, width) => (aggregates, Some(width)),
            What::ByTag(_, aggregates, width) => (aggregates, width),
            What::Datapoints
            | What::FirstOfEach
            | What::Greatest
            | What::Top(_)
            | What::Consecutive(_)
            | What::Count => return None,
        };
        // Nothing needs an order of time within the groups: no first and no last value.
        let is_grouped = |&aggregate: &Aggregate| aggregate.is_percentile() || function(aggregate).is_some();
        aggregates.iter().all(is_grouped).then_some(Self { aggregates, width, by })
    }

    /// What rows are grouped by beside the bucket.
    #[must_use]
    pub fn by(&self) -> GroupedBy {
        self.by
    }

    /// All figures that are asked for, in order.
    #[must_use]
    pub fn aggregates(&self) -> &'a [Aggregate] {
        self.aggregates
    }

    /// Whether there are buckets.
    #[must_use]
    pub fn has_buckets(&self) -> bool {
        self.width.is_some()
    }

    /// Those that a function gives: its name, and its place among those asked for. The first and the last value have none.
    pub fn functions(&self) -> impl Iterator<Item = (usize, &'static str)> + 'a {
        self.aggregates.iter().enumerate().filter_map(|(place, &aggregate)| Some((place, function(aggregate)?)))
    }

    /// The figures of a number as columns, each with a comma before it.
    #[must_use]
    pub fn columns(&self, number: &str) -> String {
        let column = |(_, function): (usize, &str)| match function {
            // A float, as all figures are.
            "count" => format!(", count({number}) + 0e0"),
            function => format!(", {function}({number})"),
        };
        self.functions().map(column).collect()
    }

    /// The beginning of the bucket that a time lies in, also one before 1970; 0 without buckets.
    #[must_use]
    pub fn start_of(&self, time: &str) -> String {
        match self.width.map(BucketWidth::as_ns) {
            Some(width) => format!("{time} - (({time}) % {width} + {width}) % {width}"),
            None => "0".into(),
        }
    }
}

/// What is grouped and in which order where of the devices those with the greatest figure of a number are asked for: the first
/// column is the device, the second the figure.
#[must_use]
pub fn greatest_first(number: &str, limit: u64) -> String {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    format!(" GROUP BY 1 HAVING count({number}) > 0 ORDER BY 2 DESC, 1 LIMIT {limit}")
}

/// The function that gives a figure; the first and the last value have none, and of percentiles not every SQL has one.
#[must_use]
pub fn function(aggregate: Aggregate) -> Option<&'static str> {
    Some(match aggregate {
        Aggregate::First | Aggregate::Last | Aggregate::Percentile(_) => return None,
        Aggregate::Min => "min",
        Aggregate::Mean => "avg",
        Aggregate::Max => "max",
        Aggregate::Sum => "sum",
        Aggregate::Count => "count",
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::Percentile;

    #[test]
    fn figures_that_need_an_order_of_time_are_no_grouping_of_buckets() {
        let width = BucketWidth::from_ns(60).unwrap();
        let asked = [Aggregate::Last, Aggregate::Count, Aggregate::Mean];
        let figures = Grouping::of(What::Figures(&asked)).unwrap();
        assert_eq!(figures.functions().collect::<Vec<_>>(), [(1, "count"), (2, "avg")]);
        assert_eq!(figures.columns("x"), ", count(x) + 0e0, avg(x)");
        assert_eq!((figures.start_of("ts"), figures.has_buckets()), ("0".into(), false));
        assert!(Grouping::of(What::Buckets(&asked, width)).is_none() && Grouping::of(What::Greatest).is_none());
        let buckets = Grouping::of(What::Buckets(&asked[1..], width)).unwrap();
        assert_eq!(buckets.start_of("ts"), "ts - ((ts) % 60 + 60) % 60");
        assert_eq!((buckets.aggregates(), buckets.has_buckets()), (&asked[1..], true));
        let with_percentile = [Aggregate::Mean, Aggregate::Percentile(Percentile::parse("p99").unwrap())];
        for what in [What::Figures(&with_percentile), What::Buckets(&with_percentile, width)] {
            assert!(Grouping::of(what).is_none() && Grouping::with_percentiles(what).is_some(), "{what:?}");
        }
        assert!(Grouping::with_percentiles(What::Buckets(&asked, width)).is_none());
    }
}
