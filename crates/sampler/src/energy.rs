//! What the machine's processors and memory consume, as the kernel's power capping framework counts it (RAPL).

use std::fs;
use std::path::{Path, PathBuf};

/// Where Linux shows the zones: <https://docs.kernel.org/power/powercap/powercap.html>.
const POWERCAP: &str = "/sys/class/powercap";

/// The counters of the packages and of the memory beside them, put together. A zone within a package is part of it.
#[derive(Debug)]
pub(crate) struct Energy {
    zones: Vec<Zone>,
}

/// A counter that starts again from 0 behind `range_uj`.
#[derive(Debug)]
struct Zone {
    counter: PathBuf,
    range_uj: u64,
    last_uj: u64,
    total_uj: u64,
}

impl Energy {
    /// The machine's counters. It has none where the processor or the hypervisor shows none, or only to another user.
    pub fn of_machine() -> Self {
        Self::of(Path::new(POWERCAP))
    }

    fn of(powercap: &Path) -> Self {
        let zones = fs::read_dir(powercap).into_iter().flatten().flatten();
        Self { zones: zones.filter_map(|zone| Zone::open(&zone.path())).collect() }
    }

    /// Microjoules since the counters were opened; `None` where they cannot be read. Asked for more often than a zone
    /// passes its range (minutes), it misses nothing.
    pub fn used_uj(&mut self) -> Option<u64> {
        (!self.zones.is_empty()).then(|| self.zones.iter_mut().map(Zone::used_uj).sum()).flatten()
    }
}

impl Zone {
    fn open(zone: &Path) -> Option<Self> {
        let name = fs::read_to_string(zone.join("name")).ok()?;
        let is_counted = name.starts_with("package") || name.trim_end() == "dram";
        let counter = zone.join("energy_uj");
        let last_uj = number(&counter).filter(|_| is_counted)?;
        Some(Self { counter, range_uj: number(&zone.join("max_energy_range_uj"))?, last_uj, total_uj: 0 })
    }

    fn used_uj(&mut self) -> Option<u64> {
        let now_uj = number(&self.counter)?;
        let used_uj = now_uj.checked_sub(self.last_uj).unwrap_or_else(|| {
            let rest_uj = self.range_uj.saturating_sub(self.last_uj);
            rest_uj + now_uj
        });
        self.total_uj += used_uj;
        self.last_uj = now_uj;
        Some(self.total_uj)
    }
}

fn number(file: &Path) -> Option<u64> {
    fs::read_to_string(file).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zone(powercap: &Path, folder: &str, name: &str, energy_uj: &str) {
        let zone = powercap.join(folder);
        fs::create_dir_all(&zone).unwrap();
        fs::write(zone.join("name"), format!("{name}\n")).unwrap();
        fs::write(zone.join("energy_uj"), format!("{energy_uj}\n")).unwrap();
        fs::write(zone.join("max_energy_range_uj"), "1000\n").unwrap();
    }

    #[test]
    fn packages_and_memory_count_and_what_is_part_of_a_package_does_not_count_twice() {
        let powercap = tempfile::tempdir().unwrap();
        let set = |folder, name, uj| zone(powercap.path(), folder, name, uj);
        set("intel-rapl:0", "package-0", "100");
        set("intel-rapl:0:0", "core", "60");
        set("intel-rapl:0:1", "dram", "10");
        set("intel-rapl:1", "psys", "500");
        let mut energy = Energy::of(powercap.path());
        assert_eq!(energy.used_uj(), Some(0));
        set("intel-rapl:0", "package-0", "400");
        set("intel-rapl:0:0", "core", "300");
        set("intel-rapl:0:1", "dram", "30");
        set("intel-rapl:1", "psys", "900");
        assert_eq!(energy.used_uj(), Some(320));
        set("intel-rapl:0", "package-0", "50");
        assert_eq!(energy.used_uj(), Some(320 + 600 + 50), "it went past its range");
    }

    #[test]
    fn what_cannot_be_read_is_not_known() {
        let powercap = tempfile::tempdir().unwrap();
        assert_eq!(Energy::of(&powercap.path().join("none")).used_uj(), None);
        zone(powercap.path(), "intel-rapl:0", "package-0", "no number");
        assert_eq!(Energy::of(powercap.path()).used_uj(), None);
        zone(powercap.path(), "intel-rapl:0", "package-0", "100");
        let mut energy = Energy::of(powercap.path());
        fs::remove_file(powercap.path().join("intel-rapl:0/energy_uj")).unwrap();
        assert_eq!(energy.used_uj(), None);
    }
}
