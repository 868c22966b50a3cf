//! The machine's page cache as its storage sees it, from `/proc/vmstat`.

use std::collections::HashMap;

/// What waits in memory to be written, and what came to wait since the machine began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PageCache {
    /// Made dirty by anybody, and memory that was swapped out.
    pub dirtied_bytes: u64,
    /// Dirty now, or being written.
    pub dirty_bytes: u64,
}

impl PageCache {
    pub fn of_machine() -> Option<Self> {
        Self::of(&procfs::vmstat().ok()?, procfs::page_size())
    }

    fn of(counters: &HashMap<String, i64>, page_bytes: u64) -> Option<Self> {
        let bytes = |name| u64::try_from(*counters.get(name)?).ok().map(|pages| pages * page_bytes);
        Some(Self {
            dirtied_bytes: bytes("nr_dirtied")? + bytes("pswpout").unwrap_or(0),
            dirty_bytes: bytes("nr_dirty")? + bytes("nr_writeback")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_told_in_bytes_and_nothing_is_made_up() {
        let names = [("nr_dirtied", 100), ("pswpout", 5), ("nr_dirty", 7), ("nr_writeback", 2)];
        let counters: HashMap<String, i64> = names.map(|(name, pages)| (name.to_owned(), pages)).into();
        let expected = PageCache { dirtied_bytes: 105 * 4096, dirty_bytes: 9 * 4096 };
        assert_eq!(PageCache::of(&counters, 4096), Some(expected));
        for missing in ["nr_dirtied", "nr_dirty", "nr_writeback"] {
            let mut fewer = counters.clone();
            fewer.remove(missing);
            assert_eq!(PageCache::of(&fewer, 4096), None, "{missing}");
        }
    }
}
