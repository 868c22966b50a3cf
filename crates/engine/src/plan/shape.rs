//! How the load of a group changes with time, as meant.

use super::trace;
use crate::{
    profile::{Group, LoadConfig, LoadModel, ShapeKind},
    shape::{Shape, ShapeStep, Timeline},
    units::Span,
};
use std::{path::Path, time::Duration};

type FieldError = (String, String);

const MINUTE: Span = Span::from_secs(60);
const DAY: Span = Span::from_secs(86_400);

/// The hours of a day, relative to each other: quiet at night, busy from nine to five, and once more in the evening. Own definition.
const HOURS: [f64; 24] = [
    0.50, 0.40, 0.35, 0.35, 0.40, 0.55, 0.80, 1.10, 1.35, 1.45, 1.45, 1.40, 1.30, 1.35, 1.40, 1.40, 1.35, 1.35, 1.40,
    1.50, 1.40, 1.15, 0.85, 0.65,
];

/// The shape of a group's load, and the mean rate of its file where the profile names no rate. `ramp_step`: how long a step of the
/// ramp over it counts, if there is one.
pub(super) fn of_group(
    group: &Group,
    ramp_step: Option<Span>,
    base: &Path,
) -> Result<(Shape, Option<f64>), FieldError> {
    let config = &group.load;
    if config.shape == ShapeKind::Constant {
        return Ok((Shape::Constant, None));
    }
    if !matches!(config.model, LoadModel::Open | LoadModel::PartlyOpen | LoadModel::Closed) {
        let message = format!(
            "a {} load goes by its own clock: a shape is that of an open, a partly open or a closed one",
            config.model
        );
        return refused("shape", &message);
    }
    let (shape, mean) = match config.shape {
        ShapeKind::Constant => (Shape::Constant, None),
        ShapeKind::Burst => (bursts(config)?, None),
        ShapeKind::Sine => (sine(config)?, None),
        ShapeKind::Day => (day(config)?, None),
        ShapeKind::Rise if config.rise.as_ns() == 0 => return refused("rise", "a load that grows takes some time to"),
        ShapeKind::Rise => (Shape::Rise { rise_ns: config.rise.as_ns() }, None),
        ShapeKind::Trace => of_file(config, base)?,
    };
    if let Some(step) = ramp_step {
        check_ramp(config.model, &shape, step)?;
    }
    Ok((shape, mean))
}

fn refused<T>(key: &str, message: &str) -> Result<T, FieldError> {
    Err((format!("load.{key}"), message.into()))
}

/// Each step of a ramp is of the same load, whenever it begins.
fn check_ramp(model: LoadModel, shape: &Shape, step: Span) -> Result<(), FieldError> {
    if model == LoadModel::Closed {
        return refused("shape", "a ramp of users changes their number itself: use an open loop, or drop the ramp");
    }
    let Some(period_ns) = shape.period_ns() else {
        return refused("shape", "a ramp has steps of equal loads: use a shape that begins again (burst, sine or day)");
    };
    if step.as_ns().is_multiple_of(period_ns) {
        return Ok(());
    }
    let period = Span(Duration::from_nanos(period_ns));
    refused("period", &format!("a step of the ramp ({step}) is a whole number of periods, and this is {period}"))
}

fn period_ns(config: &LoadConfig, suggested: Span) -> Result<u64, FieldError> {
    match config.period.set().unwrap_or(suggested).as_ns() {
        0 => refused("period", "a load that begins again takes some time until it does"),
        ns => Ok(ns),
    }
}

fn bursts(config: &LoadConfig) -> Result<Shape, FieldError> {
    let (period_ns, peak, part) = (period_ns(config, MINUTE)?, config.peak, config.burst.0);
    if !(peak.is_finite() && peak > 1.0) {
        return refused("peak", "a burst is greater than the mean: write a number above 1");
    }
    let burst_ns = Span(Duration::from_nanos(period_ns).mul_f64(part)).as_ns();
    if burst_ns == 0 || burst_ns >= period_ns {
        return refused("burst", "a burst is a part of its period: write a share between 0 and 100 %");
    }
    if peak * part > 1.0 {
        let message =
            format!("bursts of {peak} times the mean for {} of the time are more than all of it", config.burst);
        return refused("peak", &message);
    }
    let rest = (1.0 - peak * part) / (1.0 - part);
    let steps = vec![ShapeStep { from_ns: 0, factor: peak }, ShapeStep { from_ns: burst_ns, factor: rest }];
    Ok(Shape::Steps { kind: ShapeKind::Burst, steps, period_ns: Some(period_ns) })
}

fn sine(config: &LoadConfig) -> Result<Shape, FieldError> {
    let swing = config.peak - 1.0;
    if !(swing > 0.0 && swing <= 1.0) {
        return refused("peak", "a sine swings to more than its mean, and to 2 times of it at most");
    }
    Ok(Shape::Sine { period_ns: period_ns(config, MINUTE)?, swing })
}

fn day(config: &LoadConfig) -> Result<Shape, FieldError> {
    let hours = HOURS.len() as u64;
    let period_ns = period_ns(config, DAY)?;
    if period_ns < hours {
        return refused("period", "a day has 24 hours");
    }
    let steps = (0..hours).zip(HOURS).map(|(hour, factor)| {
        let from_ns = u64::try_from(u128::from(period_ns) * u128::from(hour) / u128::from(hours)).unwrap_or(u64::MAX);
        ShapeStep { from_ns, factor }
    });
    let steps = of_mean_one(steps.collect(), period_ns);
    Ok(Shape::Steps { kind: ShapeKind::Day, steps, period_ns: Some(period_ns) })
}

fn of_file(config: &LoadConfig, base: &Path) -> Result<(Shape, Option<f64>), FieldError> {
    if config.trace.is_empty() {
        return refused("trace", "name the file: a CSV of time (in seconds) and rate");
    }
    let (steps, ends_ns) = match trace::read(&base.join(&config.trace)) {
        Ok(read) => read,
        Err(message) => return refused("trace", &message),
    };
    let mean = mean(&steps, ends_ns);
    let steps = of_mean_one(steps, ends_ns);
    Ok((Shape::Steps { kind: ShapeKind::Trace, steps, period_ns: None }, Some(mean)))
}

#[expect(clippy::cast_precision_loss, reason = "times of a run in ns lie far below 2^53")]
fn mean(steps: &[ShapeStep], ends_ns: u64) -> f64 {
    let shape = Shape::Steps { kind: ShapeKind::Trace, steps: steps.to_vec(), period_ns: None };
    Timeline::of(&shape).by(ends_ns as f64) / ends_ns as f64
}

fn of_mean_one(mut steps: Vec<ShapeStep>, ends_ns: u64) -> Vec<ShapeStep> {
    let mean = mean(&steps, ends_ns);
    for step in &mut steps {
        step.factor /= mean;
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{parse_profile, profile::Arrival, schedule::Schedule};

    const NS_PER_S: u64 = 1_000_000_000;

    fn group(load: &str) -> Group {
        let text = format!(
            "name = \"x\"\nsummary = \"test\"\n[dataset]\nname = \"machine\"\n[[groups]]\nname = \"g\"\n\
             load = {{ model = \"open\", rate = 100, {load} }}\noperations = [{{ kind = \"write\", datapoints = 1 }}]\n"
        );
        parse_profile("test.toml", &text).unwrap().groups.remove(0)
    }

    fn shape(load: &str) -> Result<(Shape, Option<f64>), FieldError> {
        of_group(&group(load), None, Path::new("."))
    }

    /// What starts in each of so many parts of a second.
    fn starts(load: &str, seconds: u64, parts: u64) -> Vec<usize> {
        let (shape, _) = shape(load).unwrap();
        let schedule = Schedule::new(Arrival::Constant, 100.0, 1).shaped(&shape);
        let mut counts = vec![0; usize::try_from(seconds * parts).unwrap()];
        for start in schedule.take_while(|start| start.at_ns < seconds * NS_PER_S) {
            counts[usize::try_from(start.at_ns * parts / NS_PER_S).unwrap()] += 1;
        }
        counts
    }

    #[test]
    fn bursts_and_what_is_between_them_are_of_the_mean_together() {
        let each = starts(r#"shape = "burst", period = "5s", peak = 4, burst = "20%""#, 10, 1);
        assert_eq!(each, [400, 25, 25, 25, 25, 400, 25, 25, 25, 25]);
        let all = starts(r#"shape = "burst", period = "5s", peak = 5, burst = "20%""#, 5, 1);
        assert_eq!(all, [500, 0, 0, 0, 0], "all of it is in the bursts");
    }

    #[test]
    fn a_sine_and_a_day_are_of_their_mean_and_reach_their_peak() {
        let sine = starts(r#"shape = "sine", period = "8s", peak = 1.5"#, 8, 1);
        assert_eq!(sine.iter().sum::<usize>(), 800);
        assert!(sine[1] > 140 && sine[5] < 60, "{sine:?}");
        let hours = starts(r#"shape = "day", period = "24s""#, 24, 1);
        let sum = hours.iter().sum::<usize>();
        assert!((2_399..=2_401).contains(&sum), "{sum} in a day of 2,400");
        let greatest = (0..24).max_by_key(|&hour| hours[hour]).unwrap();
        assert_eq!((greatest, hours[greatest] > 4 * hours[3]), (19, true), "{hours:?}");
    }

    #[test]
    fn a_trace_is_as_its_file_has_it() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("day.csv"), "time,rate\n10,200\n12,50.5\n14,0\n").unwrap();
        let (shape, mean) = of_group(&group(r#"shape = "trace", trace = "day.csv""#), None, folder.path()).unwrap();
        assert_eq!(mean, Some(125.25), "until the time of its last line");
        let steps = [(0, 200.0), (2, 50.5), (4, 0.0)];
        let steps = steps.map(|(s, rate)| ShapeStep { from_ns: s * NS_PER_S, factor: rate / 125.25 }).to_vec();
        assert_eq!(shape, Shape::Steps { kind: ShapeKind::Trace, steps, period_ns: None });
    }

    #[test]
    fn what_is_no_shape_is_refused_with_its_key() {
        for (load, key) in [
            (r#"shape = "burst", peak = 1"#, "peak"),
            (r#"shape = "burst", peak = 20"#, "peak"),
            (r#"shape = "burst", burst = 0"#, "burst"),
            (r#"shape = "burst", burst = 1"#, "burst"),
            (r#"shape = "sine", peak = 2.5"#, "peak"),
            (r#"shape = "sine", period = "0s""#, "period"),
            (r#"shape = "day", period = "23ns""#, "period"),
            (r#"shape = "rise", rise = "0s""#, "rise"),
            (r#"shape = "trace""#, "trace"),
            (r#"shape = "trace", trace = "missing.csv""#, "trace"),
        ] {
            assert_eq!(shape(load).unwrap_err().0, format!("load.{key}"), "{load}");
        }
        let mut paced = group(r#"shape = "burst""#);
        paced.load.model = LoadModel::Paced;
        assert_eq!(of_group(&paced, None, Path::new(".")).unwrap_err().0, "load.shape");
    }

    #[test]
    fn a_step_of_a_ramp_is_a_whole_number_of_periods_of_a_rate() {
        let of_ramp = |load: &str| of_group(&group(load), Some(Span::from_secs(10)), Path::new(".")).map(drop);
        assert_eq!(of_ramp(r#"shape = "burst", period = "5s""#), Ok(()));
        assert_eq!(of_ramp(r#"shape = "burst", period = "4s""#).unwrap_err().0, "load.period");
        assert_eq!(of_ramp(r#"shape = "rise""#).unwrap_err().0, "load.shape");
        let mut closed = group(r#"shape = "burst", period = "5s""#);
        closed.load.model = LoadModel::Closed;
        assert_eq!(of_group(&closed, Some(Span::from_secs(10)), Path::new(".")).unwrap_err().0, "load.shape");
        assert!(of_group(&closed, None, Path::new(".")).is_ok());
    }
}
