//! Settings that a server may have from another machine. On his own a user may set what he likes; who only asks for a server gets to
//! tune it: how much memory, how often it writes, how many at a time ([`Recipe::tuning`]).

use super::{ServerSettings, WrongSetting, wrong};
use iotbench_core::{Recipe, capitals};

impl ServerSettings {
    /// Refuses settings of which the server's recipe does not know that they do no more than to tune it.
    ///
    /// # Errors
    /// The first of them.
    pub fn only_tuning(&self, recipe: &Recipe) -> Result<(), WrongSetting> {
        let is_tuning = |key: &str| recipe.tuning.iter().any(|known| capitals(known) == capitals(key));
        match self.settings.iter().find(|(_, key, _)| !is_tuning(key)) {
            None => Ok(()),
            Some((_, key, _)) => Err(wrong(
                key,
                "not taken from another machine: only settings are that are known to tune a server and no more (docs/agents.md); \
                 start it on its own machine (iotbench server start) to set others",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::{On, Ready, Role, StopBy};

    static ROLES: [Role; 1] = [Role {
        name: "server",
        on: On::EveryNode,
        ports: &[],
        open_ports: &[],
        files: &[],
        init: &[],
        environment: &[],
        start: &[],
        setting: &["{key}={value}"],
        reserved: &[],
        ready: Ready::Command(&[]),
        ready_within_s: 1,
        stop: StopBy::Terminate,
        url: None,
    }];
    static RECIPE: Recipe = Recipe {
        programs: &[],
        jars: &[],
        version: &[],
        user: "nobody",
        tuning: &["shared_buffers", "innodb_flush_log_at_trx_commit", "cairo.commit.mode"],
        nodes: &[1, 3],
        roles: &ROLES,
        join: &[],
    };

    fn of(key: &str) -> ServerSettings {
        ServerSettings::new([(key.to_owned(), "1".to_owned())], &RECIPE).unwrap()
    }

    #[test]
    fn from_another_machine_a_server_is_tuned_and_nothing_else() {
        for known in ["shared_buffers", "innodb-flush-log-at-trx-commit", "cairo.commit.mode", "nodes"] {
            assert_eq!(of(known).only_tuning(&RECIPE), Ok(()), "{known}");
        }
        for other in [
            "hba_file",
            "ssl_key_file",
            "log_directory",
            "general_log_file",
            "secure_file_priv",
            "skip-grant-tables",
            "local_infile",
            "listen_addresses",
            "shared_buffer",
            "shared_buffers2",
            "x",
        ] {
            let error = of(other).only_tuning(&RECIPE).unwrap_err();
            assert!(error.key == other && error.message.contains("from another machine"), "{error}");
        }
    }
}
