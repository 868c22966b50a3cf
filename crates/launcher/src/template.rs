//! Filling the templates of a recipe. Pure.

use std::{collections::BTreeMap, fmt::Display};

/// Where the user's settings stand.
pub(crate) const SETTINGS: &str = "{settings}";

/// The server's own password: in files, variables and addresses, and in no command.
pub(crate) const PASSWORD: &str = "password";

/// What a template's names stand for; `None`: nothing, and what names it in a list is left out.
#[derive(Clone, Debug, Default)]
pub(crate) struct Values(BTreeMap<String, Option<String>>);

/// A name in a template that stands for nothing: a fault of the recipe.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the recipe's template {template:?} names {name:?}, which stands for nothing (a fault of iotbench)")]
pub struct UnknownName {
    template: String,
    name: String,
}

impl UnknownName {
    /// A template of an address that is none when it is filled.
    pub(crate) fn no_url(template: &str) -> Self {
        Self { template: template.into(), name: "(no address)".into() }
    }
}

impl Values {
    pub(crate) fn set(&mut self, name: &str, value: impl Display) {
        self.0.insert(name.into(), Some(value.to_string()));
    }

    /// Leaves the elements of a list out that name this.
    pub(crate) fn leave_out(&mut self, name: &str) {
        self.0.insert(name.into(), None);
    }

    fn is_left_out(&self, template: &str) -> bool {
        let mut left_out = self.0.iter().filter(|(_, value)| value.is_none());
        left_out.any(|(name, _)| template.contains(&format!("{{{name}}}")))
    }

    /// The template with each `{name}` replaced, and each `{{` by `{`. What is put in is not looked at again.
    pub(crate) fn fill(&self, template: &str) -> Result<String, UnknownName> {
        let mut filled = String::with_capacity(template.len());
        let mut rest = template;
        while let Some((before, after)) = rest.split_once('{') {
            let unknown = |name: &str| UnknownName { template: template.into(), name: name.into() };
            filled.push_str(before);
            if let Some(behind) = after.strip_prefix('{') {
                filled.push('{');
                rest = behind;
                continue;
            }
            let (name, behind) = after.split_once('}').ok_or_else(|| unknown(after))?;
            filled.push_str(self.0.get(name).and_then(Option::as_deref).ok_or_else(|| unknown(name))?);
            rest = behind;
        }
        filled.push_str(rest);
        Ok(filled)
    }

    /// The templates filled, with `settings` where `{settings}` stands.
    pub(crate) fn fill_all(&self, templates: &[&str], settings: &[String]) -> Result<Vec<String>, UnknownName> {
        let mut filled = Vec::with_capacity(templates.len() + settings.len());
        for &template in templates {
            if template == SETTINGS {
                filled.extend_from_slice(settings);
            } else if !self.is_left_out(template) {
                filled.push(self.fill(template)?);
            }
        }
        Ok(filled)
    }

    /// The lines of a file filled, with `settings` where the line `{settings}` stands.
    pub(crate) fn fill_lines(&self, text: &str, settings: &[String]) -> Result<String, UnknownName> {
        let lines: Vec<_> = text.lines().collect();
        let mut filled = self.fill_all(&lines, settings)?.join("\n");
        filled.push('\n');
        Ok(filled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn values() -> Values {
        let mut values = Values::default();
        values.set("port", 4711);
        values.set("data", "/tmp/{port}");
        values
    }

    #[test]
    fn names_are_replaced_once() {
        assert_eq!(values().fill("a{port}b{data}"), Ok("a4711b/tmp/{port}".into()));
        assert_eq!(values().fill("plain"), Ok("plain".into()));
    }

    #[test]
    fn a_name_that_stands_for_nothing_is_named() {
        let unknown =
            |name: &str| Err(UnknownName { template: format!("x{{{name}"), name: name.trim_end_matches('}').into() });
        assert_eq!(values().fill("x{nope}"), unknown("nope}"));
        assert_eq!(values().fill("x{open"), unknown("open"));
    }

    #[test]
    fn settings_stand_where_the_recipe_wants_them() {
        let filled = values().fill_all(&["a", "{settings}", "{port}"], &["--b=1".into(), "--c=2".into()]);
        assert_eq!(filled.unwrap(), ["a", "--b=1", "--c=2", "4711"]);
    }

    #[test]
    fn a_doubled_brace_is_one() {
        assert_eq!(values().fill("{{'factor': {port}}"), Ok("{'factor': 4711}".into()));
        assert_eq!(values().fill("{{{port}"), Ok("{4711".into()));
    }

    #[test]
    fn a_files_settings_have_lines_of_their_own() {
        let settings = ["x = 1".to_owned(), "y = {port}".to_owned()];
        let filled = values().fill_lines("port = {port}\n{settings}\nend", &settings);
        assert_eq!(filled.unwrap(), "port = 4711\nx = 1\ny = {port}\nend\n");
        assert_eq!(values().fill_lines("{settings}\nend\n", &[]).unwrap(), "end\n");
    }

    #[test]
    fn what_names_nothing_on_purpose_is_left_out_of_a_list() {
        let mut values = values();
        values.leave_out("cluster");
        assert_eq!(values.fill_all(&["a", "--of={cluster}", "{port}"], &[]).unwrap(), ["a", "4711"]);
        assert!(values.fill("--of={cluster}").is_err());
        values.set("cluster", "c");
        assert_eq!(values.fill_all(&["--of={cluster}"], &[]).unwrap(), ["--of=c"]);
    }

    proptest! {
        #[test]
        fn what_is_put_in_is_never_a_template(value in "\\PC{0,40}") {
            let mut values = Values::default();
            values.set("v", &value);
            prop_assert_eq!(values.fill("<{v}>"), Ok(format!("<{value}>")));
        }
    }
}
