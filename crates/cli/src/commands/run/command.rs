//! The command as given, for results: only values that are known to hold no secret are kept.

use clap::{Arg, Command};
use iotbench_session::shown_option;

/// A command of the program, its own name first, without secrets. `root`: all commands.
pub(super) fn without_secrets(words: &[String], root: &Command) -> Vec<String> {
    let mut command = root;
    let mut shown = Vec::with_capacity(words.len());
    let mut words = words.iter();
    shown.extend(words.next().cloned());
    while let Some(word) = words.next() {
        let Some(Written { name, option, value }) = Written::of(word, command) else {
            command = command.find_subcommand(word).unwrap_or(command);
            shown.push(word.clone());
            continue;
        };
        match (option, value) {
            (option, Some(value)) => {
                shown.push(format!("{name}{}", shown_option(option.and_then(Arg::get_long), value)));
            }
            (Some(option), None) if option.get_action().takes_values() => {
                shown.push(word.clone());
                shown.extend(words.next().map(|value| shown_option(option.get_long(), value)));
            }
            _ => shown.push(word.clone()),
        }
    }
    shown
}

/// A word that is an option.
struct Written<'a> {
    /// What stands before its value in the same word, or all of the word.
    name: &'a str,
    /// `None`: the command has no such option.
    option: Option<&'a Arg>,
    /// `None`: it stands in the next word, or there is none.
    value: Option<&'a str>,
}

impl<'a> Written<'a> {
    /// `None`: the word is no option.
    fn of(word: &'a str, command: &'a Command) -> Option<Self> {
        let option_by = |is: &dyn Fn(&Arg) -> bool| command.get_arguments().find(|option| is(option));
        if let Some(long) = word.strip_prefix("--") {
            let (long, value) = long.split_once('=').map_or((long, None), |(long, value)| (long, Some(value)));
            let name = value.map_or(word, |value| &word[..word.len() - value.len()]);
            return Some(Self { name, option: option_by(&|option| option.get_long() == Some(long)), value });
        }
        let short = word.strip_prefix('-')?.chars().next()?;
        let option = option_by(&|option| option.get_short() == Some(short))?;
        let (name, value) = word.split_at(1 + short.len_utf8());
        let value = Some(value).filter(|value| !value.is_empty() && option.get_action().takes_values());
        Some(Self { name: value.map_or(word, |_| name), option: Some(option), value })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::Arguments;
    use clap::CommandFactory;
    use iotbench_session::HARMLESS_OPTIONS;

    const CANARY: &str = "c4n4ry-7f";

    fn shown(words: &[&str]) -> Vec<String> {
        without_secrets(&words.iter().map(ToString::to_string).collect::<Vec<_>>(), &Arguments::command())
    }

    #[test]
    fn what_is_known_to_be_harmless_is_an_option() {
        let root = Arguments::command();
        let is_option = |name: &str| {
            let mut options = root.get_subcommands().flat_map(Command::get_arguments);
            options.any(|option| option.get_long() == Some(name))
        };
        let gone: Vec<_> = HARMLESS_OPTIONS.iter().filter(|name| !is_option(name)).collect();
        assert!(gone.is_empty(), "{gone:?}");
    }

    /// Every option of every command, written in both ways: a value is kept where it is known to be harmless and nowhere else.
    #[test]
    fn an_option_that_is_not_known_to_be_harmless_keeps_no_value() {
        let root = Arguments::command();
        let mut hidden = 0;
        for command in root.get_subcommands() {
            for option in command.get_arguments().filter(|option| option.get_action().takes_values()) {
                let Some(long) = option.get_long() else { continue };
                let (name, joined) = (command.get_name(), format!("--{long}={CANARY}"));
                let both = [vec!["iotbench", name, &joined], vec!["iotbench", name, &joined[..long.len() + 2], CANARY]];
                for words in both {
                    let is_kept = shown(&words).concat().contains(CANARY);
                    assert_eq!(is_kept, HARMLESS_OPTIONS.contains(&long), "{words:?}");
                    hidden += usize::from(!is_kept);
                }
            }
        }
        assert!(hidden > 20, "{hidden}");
        let unknown = format!("--no-such={CANARY}");
        assert!(!shown(&["iotbench", "run", &unknown]).concat().contains(CANARY));
    }

    #[test]
    fn wherever_an_address_or_a_setting_holds_a_secret_it_is_not_kept() {
        let ways = [
            "--url=postgres://me:CANARY@h/db",
            "--url=http://h/?token=CANARY",
            "--url=http://CANARY@h/",
            "--url=http://me:CANARY/@.../",
            "--url=not a url CANARY",
            "--via=mqtt://me:CANARY@h?qos=1",
            "--via=mqtt?qos=0&server.password_file=/CANARY",
            "--via=mqtt?qos=0&server.x=CANARY",
            "--nats=nats://CANARY@h:4222",
            "--nats=nats://me:CANARY@a,nats://me:CANARY@b",
            "--nats=tls://me:a@CANARY@h",
            "--nats=CANARY@h",
            "--set=backend.x.password=CANARY",
            "--set=backend.x.password=CANARY=a",
            "--set=backend.x.password=a=CANARY",
            "--set=backend.x.api_token=123456",
            "--set=backend.x.user=CANARY",
            "--set=CANARY",
        ];
        for way in ways {
            let way = way.replace("CANARY", CANARY);
            let (option, value) = way.split_once('=').unwrap();
            for words in [vec!["iotbench", "run", &way], vec!["iotbench", "run", option, value]] {
                let shown = shown(&words).concat();
                assert!(!shown.contains(CANARY) && !shown.contains("123456"), "{way}: {shown}");
            }
        }
    }

    #[test]
    fn what_tells_how_a_run_was_made_is_kept_as_it_was_written() {
        let kept = [
            "target/iotbench",
            "run",
            "-p",
            "pmu_write",
            "-bsqlite:bulk",
            "-d=10s",
            "--set",
            "ramp.steps=[4, 20000]",
            "--set=think_time=0.5s",
            "--set=backend.sqlite.synchronous=OFF",
            "--set",
            "backend.sqlite.synchronous=\"NORMAL\"",
            "--keep",
            "--via",
            "mqtt?qos=0&payload=json64&server.max_queued_messages=100",
            "--nats=nats://a.example:4222,nats://[::1]:4222",
        ];
        assert_eq!(shown(&kept), kept);
        let addresses =
            shown(&["iotbench", "run", "--url", "postgres://me:s3cret@h/db", "--via=mqtt://me:s3cret@h?qos=1"]);
        assert_eq!(addresses[3..], ["postgres://h/db", "--via=mqtt://h?qos=1"]);
        let positional = ["iotbench", "suite", "hof", "--runs", "5"];
        assert_eq!(shown(&positional), positional);
    }
}
