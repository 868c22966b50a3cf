//! Recordings in CSV files.

/// Why a recording cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// The file cannot be read.
    #[error("{file}: {source}")]
    Read {
        /// Which file.
        file: String,
        /// Why.
        source: std::io::Error,
    },
}
