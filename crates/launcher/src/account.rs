//! The user that a server runs as.

use rustix::process::geteuid;
use std::{fs, io};

/// Every system has it, for what should own nothing.
const NOBODY: &str = "nobody";

/// A user to become.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Account {
    pub(crate) name: String,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
}

/// The user that a server of this recipe's user runs as: `None`, the caller himself, unless the caller is root.
pub(crate) fn to_become(user: &str) -> io::Result<Option<Account>> {
    if !geteuid().is_root() {
        return Ok(None);
    }
    let passwd = fs::read_to_string("/etc/passwd")?;
    let found = find(&passwd, user).or_else(|| find(&passwd, NOBODY)).filter(|account| account.uid != 0);
    let missing = || io::Error::other(format!("/etc/passwd has neither {user} nor {NOBODY}"));
    found.ok_or_else(missing).map(Some)
}

fn find(passwd: &str, user: &str) -> Option<Account> {
    passwd.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next().filter(|name| *name == user)?;
        let (uid, gid) = (fields.nth(1)?.parse().ok()?, fields.next()?.parse().ok()?);
        Some(Account { name: name.into(), uid, gid })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSWD: &str = "root:x:0:0:root:/root:/bin/bash\nmysql:x:102:105:MySQL Server,,,:/nonexistent:/bin/false\n";

    #[test]
    fn a_user_is_found_by_his_whole_name() {
        assert_eq!(find(PASSWD, "mysql"), Some(Account { name: "mysql".into(), uid: 102, gid: 105 }));
        assert_eq!(find(PASSWD, "mysq"), None);
        assert_eq!(find("broken:x\nmysql", "mysql"), None);
    }
}
