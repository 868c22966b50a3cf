//! An answer to a question: the series that were found, with their values as far as was asked.

use super::{error::improper, question::Asked};
use iotbench_backend_kit::metrics::{Cell, DEVICE, Datapoint, Millis, Series, device_number};
use iotbench_core::Error;
use serde::Deserialize;
use std::collections::BTreeMap;

/// One series of a metric that was asked about.
#[derive(Debug, Deserialize)]
struct Written<'a> {
    tags: BTreeMap<String, String>,
    query: WrittenQuery,
    #[serde(borrow)]
    dps: Vec<Datapoint<'a>>,
}

/// The question that a series answers.
#[derive(Debug, Deserialize)]
struct WrittenQuery {
    /// Its place among those that were asked at once.
    index: usize,
}

/// What was found.
#[derive(Debug)]
pub(crate) struct Document<'a> {
    found: Vec<(usize, u32, Vec<Datapoint<'a>>)>,
}

impl<'a> Document<'a> {
    /// Reads the answer to `asked`. What lies outside of what was asked about is left out: the server's stretches are longer.
    ///
    /// # Errors
    /// Protocol where it is no answer to that.
    pub(crate) fn read(text: &'a [u8], span: Millis, devices: Option<&[u32]>, asked: &[Asked]) -> Result<Self, Error> {
        let written: Vec<Written<'a>> = serde_json::from_slice(text).map_err(improper)?;
        let mut found = Vec::with_capacity(written.len());
        for Written { tags, query, mut dps } in written {
            let asked = asked.get(query.index).ok_or_else(|| improper("a series answers no question"))?;
            let device = device_number(tags.get(DEVICE).map_or("", String::as_str))?;
            if asked.is_raw() {
                dps.retain(|value| span.contains(value.ms));
            }
            if devices.is_none_or(|list| list.contains(&device)) && !dps.is_empty() {
                found.push((query.index, device, dps));
            }
        }
        Ok(Self { found })
    }

    /// The series that are not empty.
    pub(crate) fn series(&self) -> impl Iterator<Item = Series<'_, 'a>> {
        self.found.iter().map(|(place, device, values)| Series { place: *place, device: *device, values })
    }
}

/// The number of values of one stretch of time, which is told as a float.
pub(crate) fn count_of(cell: &Cell<'_>) -> Result<u64, Error> {
    /// The greatest integer up to which a float holds every one.
    const GREATEST: f64 = 9_007_199_254_740_992.0;
    match *cell {
        Cell::Integer(count @ 0..) => Ok(count.unsigned_abs()),
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is a whole number in range")]
        Cell::Float(count) if (0.0..=GREATEST).contains(&count) && count.fract() == 0.0 => Ok(count as u64),
        _ => Err(improper(format!("{cell:?} stands where a count should"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANSWER: &[u8] = br#"[
        {"metric":"m","tags":{"device":"7"},"aggregateTags":[],"query":{"aggregator":"none","index":1,"x":[1]},
         "dps":[[9,1.0],[10,-0.0],[11,4.9E-324],[12,9223372036854775807],[13,2]]},
        {"metric":"m","tags":{"device":"8"},"aggregateTags":[],"query":{"index":0},"dps":[[10,1.5]]},
        {"metric":"m","tags":{"device":"7"},"aggregateTags":[],"query":{"index":0},"dps":[]}]"#;

    #[test]
    fn an_answer_is_read_as_the_server_writes_it() {
        let asked = [Asked::raw("m".into()), Asked::raw("n".into())];
        let (span, one) = (Millis { first: 10, last: 12 }, Some(&[7][..]));
        let document = Document::read(ANSWER, span, one, &asked).unwrap();
        let series: Vec<_> = document.series().collect();
        let [Series { place: 1, device: 7, values }] = series[..] else { panic!("{series:?}") };
        assert!(matches!(values[0], Datapoint { ms: 10, cell: Cell::Float(v) } if v.is_sign_negative()));
        assert_eq!(values[1].cell, Cell::Float(5e-324));
        assert_eq!(values[2].cell, Cell::Integer(i64::MAX));
        assert_eq!(values.len(), 3);
        assert_eq!(Document::read(ANSWER, span, None, &asked).unwrap().series().count(), 2);
        assert!(Document::read(ANSWER, span, None, &asked[..1]).is_err());
        assert!(Document::read(br#"[{"tags":{},"query":{"index":0},"dps":[]}]"#, span, one, &asked).is_err());
        assert!(Document::read(b"{}", span, one, &asked).is_err());
    }

    #[test]
    fn a_count_is_a_whole_number() {
        assert_eq!(count_of(&Cell::Float(5.0)).unwrap(), 5);
        assert_eq!(count_of(&Cell::Integer(5)).unwrap(), 5);
        for bad in [Cell::Float(-1.0), Cell::Float(0.5), Cell::Integer(-1), Cell::Float(f64::NAN)] {
            assert!(count_of(&bad).is_err(), "{bad:?}");
        }
    }
}
