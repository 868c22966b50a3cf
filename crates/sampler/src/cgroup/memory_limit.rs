//! The most memory that the cgroups of this process allow.
//!
//! Sources: Linux `Documentation/admin-guide/cgroup-v1/memory.rst`, `Documentation/admin-guide/cgroup-v2.rst`.

use super::Version;
use super::cpu_limit::groups;

/// v1 says of a group without a limit that it may have the greatest number of pages.
const NO_LIMIT_V1: u64 = 1 << 62;

/// The tightest limit over the groups of this process and those above them; `None`: there is none.
#[must_use]
pub fn memory_limit_bytes() -> Option<u64> {
    let limit = |version| match version {
        Version::V1 => "memory.limit_in_bytes",
        Version::V2 => "memory.max",
    };
    let groups = groups("memory").unwrap_or_default();
    groups.iter().filter_map(|group| limit_in(&group.text(limit(group.version))?)).min()
}

/// v2 has `max` where there is none.
fn limit_in(text: &str) -> Option<u64> {
    text.trim().parse().ok().filter(|bytes| *bytes < NO_LIMIT_V1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_both_versions() {
        assert_eq!(
            (limit_in("1073741824\n"), limit_in("max\n"), limit_in("9223372036854771712\n")),
            (Some(1 << 30), None, None)
        );
    }
}
