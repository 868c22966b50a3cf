//! Which agents a run wants.

use crate::ClusterError;
use std::{fmt, str::FromStr};

const LONGEST_NAME: usize = 64;
/// Whoever wants more than this has mistyped.
const MOST: usize = 10_000;

/// Which agents a run wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentSelector {
    /// So many, whichever are free.
    Count(usize),
    /// These.
    Names(Vec<String>),
}

impl AgentSelector {
    /// How many they are.
    #[must_use]
    pub fn count(&self) -> usize {
        match self {
            Self::Count(count) => *count,
            Self::Names(names) => names.len(),
        }
    }
}

impl fmt::Display for AgentSelector {
    /// As it is read.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => count.fmt(f),
            Self::Names(names) => f.write_str(&names.join(",")),
        }
    }
}

impl FromStr for AgentSelector {
    type Err = ClusterError;

    /// A number, or names with commas between them.
    fn from_str(text: &str) -> Result<Self, ClusterError> {
        if let Ok(count) = text.trim().parse::<usize>() {
            let is_some = (1..=MOST).contains(&count);
            return if is_some { Ok(Self::Count(count)) } else { Err(ClusterError::Name(text.into())) };
        }
        let names: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).collect();
        names.iter().try_for_each(|name| check_name(name))?;
        let twice = names.iter().enumerate().find(|(place, name)| names[..*place].contains(name));
        twice.map_or(Ok(Self::Names(names.clone())), |(_, name)| Err(ClusterError::Name(format!("{name},{name}"))))
    }
}

/// A name is a part of a subject.
pub(crate) fn check_name(name: &str) -> Result<(), ClusterError> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let fits = !name.is_empty() && name.len() <= LONGEST_NAME && name.chars().all(is_plain);
    if fits { Ok(()) } else { Err(ClusterError::Name(name.into())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_or_names() {
        for two in ["2", " 2\t", "02"] {
            assert_eq!(two.parse::<AgentSelector>().unwrap(), AgentSelector::Count(2), "no agent of the name {two:?}");
        }
        let names = "a, rack-2_b".parse::<AgentSelector>().unwrap();
        assert_eq!((names.count(), names), (2, AgentSelector::Names(vec!["a".into(), "rack-2_b".into()])));
        for wrong in ["0", " 0", "", "a,", "a.b", "a,a", "*", "99999", "a b"] {
            assert!(matches!(wrong.parse::<AgentSelector>(), Err(ClusterError::Name(_))), "{wrong}");
        }
    }
}
