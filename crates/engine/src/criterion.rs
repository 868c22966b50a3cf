//! When a load is too much, in a line: `p99<50ms`, `mean<1s, errors<=1%`.

use crate::{
    profile::Stop,
    units::{Auto, Share, Span, UnitError},
};
use iotbench_recorder::Level;
use std::str::FromStr;

/// Limits on the response time and on the shares of what goes wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Criterion {
    /// The greatest mean response time.
    mean: Option<Span>,
    /// A quantile of the response time and its greatest value.
    quantile: Option<(Share, Span)>,
    /// The greatest share of operations that fail.
    errors: Option<Share>,
    /// The greatest share of operations that time out.
    timeouts: Option<Share>,
    /// The greatest share of datapoints that are lost before they are sent.
    loss: Option<Share>,
}

/// Why a text is no criterion.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CriterionError {
    /// A part without a comparison.
    #[error("{0:?} is no limit: write for example p99<50ms, mean<1s or errors<=1%, several with commas")]
    NoLimit(String),
    /// A figure that there is not.
    #[error("{0:?} cannot be limited: write mean, a percentile such as p99 or p99.9, errors, timeouts or loss")]
    Figure(String),
    /// A limit that a load had to exceed.
    #[error("{0:?} has the wrong direction: a limit is what may not be exceeded, such as p99<50ms")]
    Direction(String),
    /// A limit that cannot be read.
    #[error(transparent)]
    Limit(#[from] UnitError),
    /// A limit that nothing meets.
    #[error("{0:?}: no response takes no time")]
    Zero(String),
    /// Two limits for the same figure, or for two percentiles.
    #[error(
        "{0:?} is the second limit of its kind: give one for the mean, one for a percentile, for errors and for time-outs"
    )]
    Twice(String),
    /// Only shares of errors.
    #[error("a criterion limits the response time: add mean<… or p99<…")]
    NoResponse,
}

impl FromStr for Criterion {
    type Err = CriterionError;

    fn from_str(text: &str) -> Result<Self, CriterionError> {
        let mut criterion = Self::default();
        for part in text.split(',').map(str::trim) {
            criterion.add(part)?;
        }
        if criterion.mean.is_none() && criterion.quantile.is_none() {
            return Err(CriterionError::NoResponse);
        }
        Ok(criterion)
    }
}

impl Criterion {
    /// Takes a part. `<` and `<=` are the same: both are exceeded by what is greater, and times are known to 0.1 %.
    fn add(&mut self, part: &str) -> Result<(), CriterionError> {
        if part.contains(['>', '≥']) {
            return Err(CriterionError::Direction(part.into()));
        }
        let Some((figure, limit)) = part.split_once("<=").or_else(|| part.split_once(['<', '≤'])) else {
            return Err(CriterionError::NoLimit(part.into()));
        };
        let (figure, limit) = (figure.trim(), limit.trim());
        let is_second = match figure {
            "mean" => self.mean.replace(time(part, limit)?).is_some(),
            "errors" => self.errors.replace(limit.parse()?).is_some(),
            "timeouts" => self.timeouts.replace(limit.parse()?).is_some(),
            "loss" => self.loss.replace(limit.parse()?).is_some(),
            _ => {
                let quantile = percentile(figure).ok_or_else(|| CriterionError::Figure(figure.into()))?;
                self.quantile.replace((quantile, time(part, limit)?)).is_some()
            }
        };
        if is_second { Err(CriterionError::Twice(part.into())) } else { Ok(()) }
    }

    /// The stop criterion that it means. Limits on the response that it does not name are none; shares that it does not name
    /// stay what they were.
    #[must_use]
    pub fn of(self, stop: &Stop) -> Stop {
        let limit = |span: Option<Span>| span.map_or(Auto::Auto, Auto::Set);
        Stop {
            mean_response: limit(self.mean),
            quantile: self.quantile.map_or(stop.quantile, |(quantile, _)| quantile),
            quantile_response: limit(self.quantile.map(|(_, span)| span)),
            errors: self.errors.unwrap_or(stop.errors),
            timeouts: self.timeouts.unwrap_or(stop.timeouts),
            max_loss: self.loss.map_or(stop.max_loss, Auto::Set),
        }
    }
}

fn time(part: &str, limit: &str) -> Result<Span, CriterionError> {
    let span: Span = limit.parse()?;
    if span.as_ns() == 0 { Err(CriterionError::Zero(part.into())) } else { Ok(span) }
}

/// `p99.9` as a share.
fn percentile(text: &str) -> Option<Share> {
    let number: f64 = text.strip_prefix('p')?.parse().ok()?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "what is no percentage is no level")]
    let level = Level::from_parts_per_million((number * 1e4).round() as u32)?;
    Some(Share(level.fraction()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn stop(text: &str) -> Stop {
        text.parse::<Criterion>().unwrap().of(&Stop { errors: Share(0.02), ..Stop::default() })
    }

    fn ms(ms: u64) -> Auto<Span> {
        Auto::Set(Span(std::time::Duration::from_millis(ms)))
    }

    #[test]
    fn limits_are_read() {
        let p99 = stop("p99<50ms");
        assert_eq!((p99.mean_response, p99.quantile, p99.quantile_response), (Auto::Auto, Share(0.99), ms(50)));
        assert_eq!(p99.errors, Share(0.02), "what is not named stays");
        for text in ["p99.9 <= 1s", "p99.9≤1s", " p99.9<1s "] {
            assert_eq!((stop(text).quantile, stop(text).quantile_response), (Share(0.999), ms(1000)), "{text}");
        }
        let several = stop("mean<1s,p95<200ms, errors<=1%,timeouts<0.5%");
        assert_eq!((several.mean_response, several.quantile_response), (ms(1000), ms(200)));
        assert_eq!((several.errors, several.timeouts), (Share(0.01), Share(0.005)));
        assert_eq!((several.max_loss, stop("mean<1s,loss<=0.1%").max_loss), (Auto::Auto, Auto::Set(Share(0.001))));
    }

    #[test]
    fn what_is_no_criterion_is_said_so() {
        let error = |text: &str| text.parse::<Criterion>().unwrap_err();
        assert_eq!(error(""), CriterionError::NoLimit(String::new()));
        assert_eq!(error("p99"), CriterionError::NoLimit("p99".into()));
        assert_eq!(error("p99>50ms"), CriterionError::Direction("p99>50ms".into()));
        for figure in ["p0", "p100", "p-1", "pNaN", "p1e9", "max", "P99", "p"] {
            assert_eq!(error(&format!("{figure}<1s")), CriterionError::Figure(figure.into()));
        }
        assert!(matches!(error("p99<50"), CriterionError::Limit(UnitError::Duration(_))));
        assert!(matches!(error("mean<1s,errors<150%"), CriterionError::Limit(UnitError::Share(_))));
        assert_eq!(error("mean<0s"), CriterionError::Zero("mean<0s".into()));
        assert_eq!(error("p99<1s,p95<2s"), CriterionError::Twice("p95<2s".into()));
        assert_eq!(error("errors<1%"), CriterionError::NoResponse);
        assert!(error("p99").to_string().contains("write for example p99<50ms"));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "\\PC{0,24}", part in "(p|mean|errors)[0-9.]{0,6}[<>=]{0,2}[0-9.]{0,4}(ms|s|%)?") {
            let _ = text.parse::<Criterion>();
            let _ = part.parse::<Criterion>();
        }
    }
}
