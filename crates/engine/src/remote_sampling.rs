//! What is sampled on other machines, as the run's own sampler sees it.

use iotbench_core::Error;
use iotbench_sampler::RemoteProbe;
use std::{fmt, time::Instant};

/// Has parts of the database sampled where they run.
pub trait RemoteSamplers: Send + Sync + fmt::Debug {
    /// Reaches whoever samples for a run; what they sample are servers, numbered from `first_node` on.
    ///
    /// # Errors
    /// One of them is not reached.
    fn connect(&self, run: &str, first_node: u32) -> Result<Box<dyn RemoteSampling>, Error>;
}

/// Sampling elsewhere, for one run.
pub trait RemoteSampling: Send {
    /// Where what is seen is put down, of each subject in the order of their numbers.
    fn subjects(&self) -> Vec<RemoteProbe>;

    /// The run begins at this instant.
    fn start(&self, epoch: Instant);

    /// Ends it; what there is to say of it.
    fn end(self: Box<Self>) -> Vec<String>;
}
