//! In which form a command prints what it found, for the commands that have two of them.

use clap::{Args, ValueEnum};

/// Text for people, or JSON for programs.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct FormArguments {
    /// In which form [default: text]
    #[arg(long, visible_alias = "format", value_name = "FORMAT")]
    output_format: Option<Form>,
    /// The same as --output-format json
    #[arg(long, conflicts_with = "output_format")]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    /// For people
    Text,
    /// One JSON document
    Json,
}

impl FormArguments {
    pub(crate) fn is_json(self) -> bool {
        self.json || self.output_format == Some(Form::Json)
    }
}

#[cfg(test)]
mod tests {
    use crate::arguments::Arguments;
    use clap::{Arg, Command, CommandFactory};

    fn names(argument: &Arg) -> Vec<&str> {
        let aliases = argument.get_all_aliases().unwrap_or_default();
        argument.get_long().into_iter().chain(aliases).collect()
    }

    /// All commands below this one, with it.
    fn all(command: &Command) -> Vec<&Command> {
        std::iter::once(command).chain(command.get_subcommands().flat_map(all)).collect()
    }

    #[test]
    fn a_form_of_output_is_chosen_by_the_same_option_in_every_command() {
        let root = Arguments::command();
        let options = |command: &Command| -> Vec<Vec<String>> {
            let named = command.get_arguments().map(|a| names(a).into_iter().map(Into::into).collect());
            named.collect()
        };
        let has = |options: &[Vec<String>], name: &str| options.iter().any(|names| names.iter().any(|n| n == name));
        let mut choose = Vec::new();
        for command in all(&root) {
            let options = options(command);
            if ["json", "csv", "format", "output-format"].iter().any(|name| has(&options, name)) {
                choose.push(command.get_name().to_owned());
                assert!(has(&options, "format") && has(&options, "output-format"), "{choose:?}: {options:?}");
            }
        }
        let expected = ["run", "capacity", "generate", "show", "verify", "recover", "compare", "history", "score"];
        assert!(expected.iter().all(|name| choose.iter().any(|c| c == name)), "{choose:?}");
    }
}
