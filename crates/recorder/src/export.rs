//! Histograms as others read them: `HdrHistogram` V2 with deflate, and the interval log.

use std::io::{self, Read};
use std::time::{Duration, SystemTime};

use flate2::read::ZlibDecoder;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, IntervalLogWriterError, Tag};
use hdrhistogram::serialization::{
    DeserializeError, Deserializer, Serializer, V2DeflateSerializeError, V2DeflateSerializer,
};
use thiserror::Error;

use crate::buckets::{HIGHEST_NS, layout};
use crate::histogram::{LatencyHistogram, MAX_VALUES};

/// First bytes of a V2 histogram with deflate.
const COOKIE: [u8; 4] = [0x1c, 0x84, 0x93, 0x14];

/// Bytes before the deflated part: the cookie and the part's length.
const OUTER_HEADER_LENGTH: usize = 8;

/// Bytes of the header in the deflated part.
const HEADER_LENGTH: usize = 40;

/// Longest encoding of a count.
const COUNT_LENGTH: usize = 9;

/// Why a histogram could not be written or read.
#[derive(Debug, Error)]
pub enum ExportError {
    /// The histogram could not be encoded.
    #[error("cannot encode a histogram: {0}")]
    Encode(#[from] V2DeflateSerializeError),
    /// The bytes are no histogram in V2 format with deflate.
    #[error("these bytes are no HdrHistogram V2 with deflate: {0}; is the file damaged?")]
    Decode(#[from] DeserializeError),
    /// The histogram claims a size or a number of values that none of ours has.
    #[error("a histogram claims {0}, which none of ours has; is the file damaged?")]
    Implausible(String),
    /// The histogram has other bounds than ours, so its values mean something else.
    #[error(
        "a histogram from {low} to {high} with {digits} digits is not one of ours, from 1 to {HIGHEST_NS} ns with 3: \
         it cannot be merged with them"
    )]
    OtherBounds {
        /// Lowest discernible value.
        low: u64,
        /// Highest trackable value.
        high: u64,
        /// Significant digits.
        digits: u64,
    },
    /// A line of an interval log that is none.
    #[error("{0:?} does not begin a line of an interval log; is the file damaged?")]
    Line(String),
    /// The tag cannot stand in an interval log.
    #[error("the tag {0:?} holds a comma, a blank or a line break, which the interval log uses itself: rename it")]
    Tag(String),
    /// The interval log could not be put together.
    #[error("cannot write the interval log: {0}")]
    Log(#[from] io::Error),
}

impl LatencyHistogram {
    /// The buckets in `HdrHistogram`'s V2 format with deflate, which the libraries of all languages read (in base64, where
    /// they want text). Values are nanoseconds. Overflow and the exact figures are not part of the format.
    ///
    /// # Errors
    /// [`ExportError::Encode`] when the encoder fails.
    pub fn to_v2_deflate(&self) -> Result<Vec<u8>, ExportError> {
        let mut bytes = Vec::new();
        V2DeflateSerializer::new().serialize(&self.buckets().histogram(), &mut bytes)?;
        Ok(bytes)
    }

    /// Reads what [`to_v2_deflate`](Self::to_v2_deflate) wrote. Counts and quantiles are those of the original, within
    /// the bucket at both ends; minimum, maximum, mean and standard deviation are estimated from the buckets, and the
    /// overflow is 0.
    ///
    /// Safe with hostile bytes: memory is bounded by that of one histogram, whatever they claim.
    ///
    /// # Errors
    /// [`ExportError::Decode`] for other bytes, [`ExportError::OtherBounds`] for a histogram of other bounds,
    /// [`ExportError::Implausible`] for one that claims more than ours can hold.
    pub fn from_v2_deflate(mut bytes: &[u8]) -> Result<Self, ExportError> {
        check_header(bytes)?;
        let buckets: Histogram<u64> = Deserializer::new().deserialize(&mut bytes)?;
        if buckets.len() > MAX_VALUES {
            return Err(ExportError::Implausible(format!("{} values", buckets.len())));
        }
        Ok(Self::from_buckets(buckets))
    }
}

/// Checks that the header is that of one of our histograms, before the decoder allocates what it claims.
fn check_header(bytes: &[u8]) -> Result<(), ExportError> {
    if !bytes.starts_with(&COOKIE) {
        return Err(DeserializeError::InvalidCookie.into());
    }
    let mut header = [0; HEADER_LENGTH];
    let deflated = bytes.get(OUTER_HEADER_LENGTH..).unwrap_or_default();
    ZlibDecoder::new(deflated).read_exact(&mut header).map_err(DeserializeError::from)?;
    // Cookie, payload length, offset and digits have four bytes each, low and high eight, then the ratio.
    let number = |from: usize, to: usize| header[from..to].iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
    let (payload_length, digits, low, high) = (number(4, 8), number(12, 16), number(16, 24), number(24, 32));
    let own = layout();
    if (low, high, digits) != (own.low(), own.high(), u64::from(own.sigfig())) {
        return Err(ExportError::OtherBounds { low, high, digits });
    }
    if payload_length > (own.distinct_values() * COUNT_LENGTH) as u64 {
        return Err(ExportError::Implausible(format!("{payload_length} bytes")));
    }
    Ok(())
}

/// The head of an interval log of a run whose epoch was at `epoch`: intervals count from there.
///
/// # Errors
/// [`ExportError::Log`] when the text cannot be put together.
pub fn interval_log_head(epoch: SystemTime) -> Result<String, ExportError> {
    let mut text = Vec::new();
    let mut serializer = V2DeflateSerializer::new();
    IntervalLogWriterBuilder::new()
        .add_comment("[Histogram log format version 1.3]")
        .add_comment("Values and Interval_Max are nanoseconds.")
        .with_start_time(epoch)
        .with_base_time(epoch)
        .begin_log_with(&mut text, &mut serializer)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// A line of an interval log, line break included: the values of `histogram` in the interval of `length` that begins
/// `start` after the run's epoch, under `tag`.
///
/// # Errors
/// [`ExportError::Tag`] when `tag` holds what the format does not allow, [`ExportError::Encode`] when the encoder fails.
pub fn interval_line(
    tag: &str,
    start: Duration,
    length: Duration,
    histogram: &LatencyHistogram,
) -> Result<String, ExportError> {
    let tag = Tag::new(tag).ok_or_else(|| ExportError::Tag(tag.to_owned()))?;
    let mut text = Vec::new();
    let mut serializer = V2DeflateSerializer::new();
    IntervalLogWriterBuilder::new()
        .begin_log_with(&mut text, &mut serializer)?
        .write_histogram(&histogram.buckets().histogram(), start, length, Some(tag))
        .map_err(|error| match error {
            IntervalLogWriterError::SerializeError(error) => ExportError::Encode(error),
            IntervalLogWriterError::IoError(error) => ExportError::Log(error),
        })?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
