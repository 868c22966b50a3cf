//! On which filesystem a path lies. Pure.

use serde::{Deserialize, Serialize};
use std::{
    ffi::OsString,
    os::unix::ffi::OsStringExt,
    path::{Path, PathBuf},
};

/// A mounted filesystem.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filesystem {
    /// Its type, such as `ext4`.
    pub kind: String,
    /// How it is mounted, such as `rw,noatime,data=ordered`.
    pub options: String,
}

/// The filesystem of an absolute path without symbolic links, by a text in the format of `/proc/self/mountinfo`.
#[must_use]
pub fn filesystem_of(mountinfo: &str, path: &Path) -> Option<Filesystem> {
    let mounts = mountinfo.lines().filter_map(mount).filter(|(point, _)| path.starts_with(point));
    // Of equal points the last mount covers the others.
    mounts.max_by_key(|(point, _)| point.components().count()).map(|(_, filesystem)| filesystem)
}

/// Mount point and filesystem of a line: `36 35 98:0 / /mnt rw,noatime master:1 - ext3 /dev/root rw,errors=continue`.
fn mount(line: &str) -> Option<(PathBuf, Filesystem)> {
    let (mount, superblock) = line.split_once(" - ")?;
    let mut mount = mount.split(' ').skip(4);
    let (point, own) = (mount.next()?, mount.next()?);
    let mut superblock = superblock.split(' ');
    let (kind, shared) = (superblock.next()?, superblock.nth(1)?);
    let both = own.split(',').chain(shared.split(',').filter(|option| !own.split(',').any(|o| o == *option)));
    // The superblock of a read-only bind mount may be writable: the mount's own word counts.
    let options = both.filter(|o| !(*o == "rw" && own.split(',').any(|own| own == "ro"))).collect::<Vec<_>>().join(",");
    Some((unescaped(point), Filesystem { kind: kind.into(), options }))
}

/// The kernel writes blanks, tabs, line breaks and backslashes as three octal digits.
fn unescaped(point: &str) -> PathBuf {
    let mut bytes = Vec::with_capacity(point.len());
    let mut rest = point.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let digits = tail.get(..3).and_then(|d| std::str::from_utf8(d).ok());
        match digits.and_then(|d| u8::from_str_radix(d, 8).ok()).filter(|_| first == b'\\') {
            Some(byte) => {
                bytes.push(byte);
                rest = tail.get(3..).unwrap_or_default();
            }
            None => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    OsString::from_vec(bytes).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw,errors=remount-ro
30 22 0:25 / /data rw,noatime shared:7 - xfs /dev/sdb rw,attr2
31 22 0:26 / /data rw - tmpfs tmpfs rw,size=1024k
32 22 0:27 / /my\\040disk ro - btrfs /dev/sdc rw
";

    fn kind(path: &str) -> Option<String> {
        filesystem_of(MOUNTS, Path::new(path)).map(|f| f.kind)
    }

    #[test]
    fn the_deepest_and_last_mount_above_the_path_counts() {
        assert_eq!(kind("/data/results").as_deref(), Some("tmpfs"));
        assert_eq!(kind("/database").as_deref(), Some("ext4"));
        assert_eq!(kind("/my disk/x").as_deref(), Some("btrfs"));
        assert_eq!(filesystem_of("", Path::new("/")), None);
    }

    #[test]
    fn options_of_mount_and_superblock_are_united() {
        let options = |path| filesystem_of(MOUNTS, Path::new(path)).unwrap().options;
        assert_eq!(options("/"), "rw,relatime,errors=remount-ro");
        assert_eq!(options("/my disk"), "ro");
    }
}
