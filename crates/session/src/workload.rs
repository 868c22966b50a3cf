//! What is to be run: a profile on databases, in all its variants, as jobs.

use crate::{
    error::SessionError,
    job::{BackendWord, Job},
    written_profile::{WrittenProfile, check_assignments},
};
use iotbench_core::Endpoint;
use iotbench_engine::{Auto, OperationKind, Overrides, Profile, Strategy};

/// A profile on databases, with what differs from it.
pub struct Workload<'b> {
    /// The profile.
    pub profile: WrittenProfile,
    /// The databases.
    pub databases: Vec<BackendWord<'b>>,
    /// Where they are; none: in the results folder, or on private servers.
    pub endpoints: Vec<Endpoint>,
    /// What differs from the profile.
    pub overrides: Overrides,
    /// Which of the profile's variants, a job for each; none: all of them.
    pub variants: Vec<String>,
    /// How machine cycles are read, a job for each; none: all of them.
    pub strategies: Vec<Strategy>,
    /// Whether certificates are not checked.
    pub insecure: bool,
}

impl<'b> Workload<'b> {
    /// A profile as it is, on one database.
    #[must_use]
    pub fn new(profile: WrittenProfile, database: BackendWord<'b>) -> Self {
        Self {
            profile,
            databases: vec![database],
            endpoints: Vec::new(),
            overrides: Overrides::default(),
            variants: Vec::new(),
            strategies: Vec::new(),
            insecure: false,
        }
    }

    /// Everything that is to be run, checked.
    ///
    /// # Errors
    /// A part of it cannot be planned.
    pub fn jobs(&self) -> Result<Vec<Job<'b>>, SessionError> {
        let backends: Vec<_> = self.databases.iter().map(|word| word.backend).collect();
        check_assignments(&self.overrides.set, &backends)?;
        let names: Vec<_> = self.databases.iter().map(|word| word.backend.info().name).collect();
        if !self.endpoints.is_empty() && names.windows(2).any(|pair| pair.first() != pair.last()) {
            return Err(SessionError::usage(
                "--url means one database, and several backends are given: run them one by one",
            ));
        }
        let strategies = self.strategies(&self.profile.profile);
        let mut jobs = Vec::new();
        for &word in &self.databases {
            let name = word.backend.info().name;
            let variants = self.profile.profile.variants_on(name, &self.overrides, &self.variants);
            for variant in variants.map_err(|e| self.profile.source.error(&e))? {
                for &strategy in &strategies {
                    let overrides = Overrides { variant: variant.clone(), strategy, ..self.overrides.clone() };
                    jobs.push(Job::new(&self.profile, word, &overrides, &self.endpoints, self.insecure)?);
                }
            }
        }
        Ok(jobs)
    }

    /// The ways in which a profile's machine cycles are read, a run for each; of a profile that searches none, or says
    /// itself how, `None` once.
    fn strategies(&self, profile: &Profile) -> Vec<Option<Strategy>> {
        let mut operations = profile.groups.iter().flat_map(|group| &group.operations);
        let search = operations.find(|operation| operation.kind == OperationKind::CycleSearch);
        match (self.strategies.as_slice(), search) {
            ([], Some(search)) if search.strategy == Auto::Auto && !self.sets_strategy() => {
                Strategy::ALL.into_iter().map(Some).collect()
            }
            ([], _) => vec![None],
            (given, _) => given.iter().copied().map(Some).collect(),
        }
    }

    fn sets_strategy(&self) -> bool {
        let keys = self.overrides.set.iter().filter_map(|assignment| assignment.split_once('='));
        keys.map(|(key, _)| key.trim()).any(|key| key == "strategy" || key.ends_with(".strategy"))
    }
}
