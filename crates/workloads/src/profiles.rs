//! The built-in profiles.

use iotbench_core::closest;

/// A profile that is part of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuiltinProfile {
    /// Its name.
    pub name: &'static str,
    /// Its text, as in `configs/profiles`.
    pub toml: &'static str,
}

/// A profile that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no profile {name:?}{}; `iotbench profiles` lists them", suggestion.as_ref().map(|s| format!(" (did you mean {s}?)")).unwrap_or_default())]
pub struct UnknownProfile {
    /// What was asked for.
    pub name: String,
    /// What was probably meant.
    pub suggestion: Option<String>,
}

macro_rules! profiles {
    ($($name:literal),+ $(,)?) => {
        /// Every built-in profile.
        pub const PROFILES: &[BuiltinProfile] = &[
            $(BuiltinProfile { name: $name, toml: include_str!(concat!("../configs/profiles/", $name, ".toml")) }),+
        ];
    };
}

profiles![
    "machine_write",
    "machine_read",
    "pmu_write",
    "smart_meter_write",
    "pmu_read_single",
    "pmu_read_all",
    "pmu_wrs",
    "pmu_wra",
    "weather_select",
    "weather_insert",
    "weather_max",
    "greenhouse_insert",
    "greenhouse_dashboard",
    "greenhouse_trends",
    "compressor_insert",
    "compressor_select",
    "compressor_mean",
    "liteme",
    "tsbs_cpu",
    "tsbs_iot",
    "iot_benchmark",
    "tpcx_iot",
    "high_cardinality",
];

/// The built-in profile of this name.
///
/// # Errors
/// There is none; the error says what is near.
pub fn find_profile(name: &str) -> Result<&'static BuiltinProfile, UnknownProfile> {
    PROFILES.iter().find(|p| p.name == name).ok_or_else(|| UnknownProfile {
        name: name.into(),
        suggestion: closest(name, PROFILES.iter().map(|p| p.name)).map(Into::into),
    })
}
