//! The backends that a program knows.

use crate::{Backend, closest};

/// The backends that a program knows: the built-in ones and those that a library user adds.
#[derive(Clone, Default)]
pub struct Registry {
    backends: Vec<&'static dyn Backend>,
}

/// A backend that is not registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no backend {name:?}{}; known: {known}", suggestion.as_ref().map(|s| format!(" (did you mean {s}?)")).unwrap_or_default())]
pub struct UnknownBackend {
    /// What was asked for.
    pub name: String,
    /// What was probably meant.
    pub suggestion: Option<String>,
    /// What there is.
    pub known: String,
}

impl Registry {
    /// A registry of these backends.
    #[must_use]
    pub fn new(backends: &[&'static dyn Backend]) -> Self {
        Self { backends: backends.to_vec() }
    }

    /// The same registry with one more backend, which replaces one of equal name.
    #[must_use]
    pub fn with(mut self, backend: &'static dyn Backend) -> Self {
        self.backends.retain(|b| b.info().name != backend.info().name);
        self.backends.push(backend);
        self
    }

    /// All of them, in the order of registration.
    pub fn iter(&self) -> impl Iterator<Item = &'static dyn Backend> + '_ {
        self.backends.iter().copied()
    }

    /// The backend of this name.
    ///
    /// # Errors
    /// There is none; the error says what is near.
    pub fn find(&self, name: &str) -> Result<&'static dyn Backend, UnknownBackend> {
        self.iter().find(|b| b.info().name == name).ok_or_else(|| UnknownBackend {
            name: name.into(),
            suggestion: closest(name, self.iter().map(|b| b.info().name)).map(Into::into),
            known: self.iter().map(|b| b.info().name).collect::<Vec<_>>().join(", "),
        })
    }
}
