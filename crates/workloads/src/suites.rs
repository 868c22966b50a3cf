//! The built-in suites.

use iotbench_core::closest;

/// A suite that is part of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuiltinSuite {
    /// Its name.
    pub name: &'static str,
    /// Its text, as in `configs/suites`.
    pub toml: &'static str,
}

/// A suite that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no suite {name:?}{}; there are {}", suggestion.as_ref().map(|s| format!(" (did you mean {s}?)")).unwrap_or_default(), names())]
pub struct UnknownSuite {
    /// What was asked for.
    pub name: String,
    /// What was probably meant.
    pub suggestion: Option<String>,
}

macro_rules! suites {
    ($($name:literal),+ $(,)?) => {
        /// Every built-in suite.
        pub const SUITES: &[BuiltinSuite] = &[
            $(BuiltinSuite { name: $name, toml: include_str!(concat!("../configs/suites/", $name, ".toml")) }),+
        ];
    };
}

suites!["quick", "hof", "abb", "weather", "compressor", "liteme", "tpcx_iot"];

fn names() -> String {
    SUITES.iter().map(|suite| suite.name).collect::<Vec<_>>().join(", ")
}

/// The built-in suite of this name.
///
/// # Errors
/// There is none; the error says what is near.
pub fn find_suite(name: &str) -> Result<&'static BuiltinSuite, UnknownSuite> {
    SUITES.iter().find(|suite| suite.name == name).ok_or_else(|| UnknownSuite {
        name: name.into(),
        suggestion: closest(name, SUITES.iter().map(|suite| suite.name)).map(Into::into),
    })
}
