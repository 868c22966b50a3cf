//! Compresses requests, in buffers that are kept.

use flate2::{Compress, Compression, FlushCompress, Status};
use iotbench_core::{Cause, Error};

/// zlib's window of 32 KiB.
const WINDOW_BITS: u8 = 15;

/// A compressor that is used again and again.
#[derive(Debug)]
pub struct Gzip(Compress);

impl Gzip {
    /// The fastest level: lines are so alike that higher ones cost more time than they save.
    pub fn fastest() -> Self {
        Self(Compress::new_gzip(Compression::fast(), WINDOW_BITS))
    }

    /// Puts the compressed input in the place of what `out` holds.
    pub fn compress(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        self.0.reset();
        out.clear();
        loop {
            let read = usize::try_from(self.0.total_in()).unwrap_or(input.len()).min(input.len());
            out.reserve((input.len() - read) / 4 + 4096);
            let status = self.0.compress_vec(&input[read..], out, FlushCompress::Finish);
            match status.map_err(|e| Error::new(Cause::Client, e))? {
                Status::StreamEnd => return Ok(()),
                Status::Ok | Status::BufError => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn each_request_is_a_whole_gzip_stream() {
        let mut gzip = Gzip::fastest();
        let mut out = Vec::new();
        let noise: Vec<u8> = (0..100_000_u32).map(|i| i.wrapping_mul(2_654_435_761).to_le_bytes()[3]).collect();
        for input in [&b""[..], b"t a=1 1\n", &noise, &b"t a=1 1\n".repeat(10_000)] {
            gzip.compress(input, &mut out).unwrap();
            let mut back = Vec::new();
            flate2::read::GzDecoder::new(out.as_slice()).read_to_end(&mut back).unwrap();
            assert!(back == input, "{} bytes came back as {}", input.len(), back.len());
        }
    }
}
