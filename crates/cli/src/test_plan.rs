//! Test support: plans without a run.

use iotbench_engine::{Overrides, Plan};
use iotbench_session::{BackendWord, Job, Place, find_written_profile};

/// A built-in profile as planned on a database.
pub(crate) fn planned(profile: &str, database: &str) -> Plan {
    let written = find_written_profile(profile).unwrap();
    let job = Job::new(&written, BackendWord::read(database).unwrap(), &Overrides::default(), &[], false).unwrap();
    job.plans("test", &Place::nowhere()).next().unwrap().unwrap().plan
}
