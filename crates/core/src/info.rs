//! What is known of a kind of database before any of it is opened.

use crate::{
    AddedSignals, Capabilities, CounterSource, Language, Layout, Misfit, PromiseLevel, Recipe, Schema, Setting,
    TagValues, Variant,
};

/// What is known of a kind of database before any of it is opened: facts, and nothing that has to be asked.
#[derive(Clone, Debug)]
pub struct BackendInfo {
    /// Its name on the command line.
    pub name: &'static str,
    /// One line for help.
    pub summary: &'static str,
    /// What it can hold and do.
    pub capabilities: Capabilities,
    /// The settings it takes.
    pub settings: &'static [Setting],
    /// The port of its servers where an address names none; `None`: it has no servers.
    pub default_port: Option<u16>,
    /// What an acknowledgement promises as long as no setting, of the backend or of its server, says otherwise. What a server
    /// says of itself counts more ([`crate::ServerFacts::promise`]).
    pub promise: PromiseLevel,
    /// How a private server of it is started on this machine; `None`: it has none, or needs none.
    pub recipe: Option<&'static Recipe>,
    /// What else its private server can be, for lists of what is ready and what is missing. Which one is started,
    /// [`crate::Backend::recipe_for`] says.
    pub variants: &'static [Variant],
    /// The option of an address that says that nothing is encrypted, as on private servers; `None`: its scheme says it.
    pub plain_text: Option<(&'static str, &'static str)>,
    /// The most signals that layout wide holds: a column each.
    pub most_wide_signals: usize,
    /// What it stores of the tags of devices.
    pub tags: TagSupport,
    /// The language of the statements that users may write themselves; `None`: it takes none.
    pub statements: Option<Language>,
    /// Whether such a statement may change the run's table, where a profile says so ([`crate::Database::changing_reader`]).
    pub statements_write: bool,
    /// Whether its driver takes what a server sends without a limit of its own: what comes is then watched from outside.
    pub unlimited_answers: bool,
    /// Whether the values of two datapoints of equal device and time, where both are kept, come back together as they were sent: not
    /// where each signal is stored by itself, and equal times are in no order.
    pub keeps_together: bool,
    /// What each layout needs before it takes signals that were not there when its table was created.
    pub added_signals: fn(Layout) -> AddedSignals,
    /// The versions of it that were seen running under this backend, oldest first; none: it never met a real one, or is iotbench's own.
    pub met: &'static [&'static str],
    /// How a batch is written, for lists; where a setting chooses, the default first.
    pub writes_by: &'static str,
    /// What its server counts of itself, and where it is read ([`crate::Database::counters`]); none: nothing.
    pub counters: &'static [CounterSource],
}

/// What a kind of database stores of the tags of devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TagSupport {
    /// The most tags of a device that it stores and finds devices by; 0: none.
    pub most: usize,
    /// Whether it stores a tag of another type than text as a value of that type ([`crate::TagType`]), as which it comes back; else as text.
    pub typed: bool,
    /// Whether a tag of a device may change, as that of one that is replaced does ([`crate::TagValues::Serial`]): it is kept beside each
    /// datapoint, and whoever reads a device finds all its series.
    pub changing: bool,
}

impl TagSupport {
    /// It stores none.
    pub const NONE: Self = Self { most: 0, typed: false, changing: false };
}

impl BackendInfo {
    /// What takes no settings, promises nothing and has no servers. Whatever else is so is named beside it:
    /// `BackendInfo { default_port: Some(9000), ..BackendInfo::new(…) }`.
    #[must_use]
    pub const fn new(name: &'static str, summary: &'static str, capabilities: Capabilities) -> Self {
        Self {
            name,
            summary,
            capabilities,
            settings: &[],
            default_port: None,
            promise: PromiseLevel::Buffered,
            recipe: None,
            variants: &[],
            plain_text: None,
            most_wide_signals: usize::MAX,
            tags: TagSupport::NONE,
            statements: None,
            statements_write: false,
            unlimited_answers: false,
            keeps_together: true,
            added_signals: |_| AddedSignals::Not("nobody has tried it"),
            met: &[],
            writes_by: "",
            counters: &[],
        }
    }

    /// Checks that datapoints of this schema, whose timestamps are multiples of `resolution_ns`, can be held in this layout.
    ///
    /// # Errors
    /// The first reason why not.
    pub fn fit(&self, layout: Layout, schema: &Schema, resolution_ns: i64) -> Result<(), Misfit> {
        self.capabilities.fit(self.name, layout, schema, resolution_ns)?;
        let (got, most) = (schema.width(), self.most_wide_signals);
        if layout == Layout::Wide && got > most {
            return Err(Misfit::Signals { backend: self.name.into(), most, got });
        }
        let (got, most) = (schema.tags().len(), self.tags.most);
        if got > most {
            let mut tags = schema.tags().as_slice().iter();
            let recorded = tags.any(|tag| matches!(tag.values, TagValues::Listed { .. }));
            return Err(Misfit::Tags { backend: self.name.into(), most, got, recorded });
        }
        let changing = schema.tags().as_slice().iter().position(|tag| tag.values.life().is_some());
        if let Some(place) = changing.filter(|_| !self.tags.changing) {
            return Err(Misfit::ChangingTags { backend: self.name.into(), place });
        }
        match (self.added_signals)(layout) {
            AddedSignals::Not(why) if schema.added() > 0 => {
                Err(Misfit::AddedSignals { backend: self.name.into(), layout, why: why.into() })
            }
            _ => Ok(()),
        }
    }

    /// Whether it is a part of iotbench, made for its tests, and no system that anybody could run.
    #[must_use]
    pub fn is_own(&self) -> bool {
        self.capabilities.embedded && self.met.is_empty()
    }

    /// The versions that were seen running, for people.
    #[must_use]
    pub fn met_in_words(&self) -> String {
        match self.met {
            [] if self.is_own() => "part of iotbench".into(),
            [] => "never met a real one".into(),
            versions => versions.join(", "),
        }
    }

    /// Whether a version of it has the same first number as one that was seen running, as far as both have one.
    #[must_use]
    pub fn has_met(&self, version: &str) -> bool {
        let first = |version: &str| version.split(|c: char| !c.is_ascii_digit()).find_map(|n| n.parse::<u64>().ok());
        let of = first(version);
        of.is_none() || self.met.iter().any(|met| first(met) == of)
    }

    /// What it can hold and do, for people: each with what it is about.
    #[must_use]
    pub fn in_words(&self) -> Vec<(&'static str, String)> {
        let tags = match self.tags.most {
            0 => "none".to_owned(),
            most => {
                let stored = if self.tags.typed { "each in its type" } else { "all as text" };
                format!("at most {most}, {stored}{}", if self.tags.changing { "; one may change" } else { "" })
            }
        };
        let mut words = self.capabilities.in_words();
        if self.most_wide_signals < usize::MAX {
            words.push(("signals in layout wide", format!("at most {}", self.most_wide_signals)));
        }
        words.push(("tags of a device", tags));
        words.push(("signals that are added", self.added_in_words()));
        words
    }

    /// Which layouts take signals that are added.
    fn added_in_words(&self) -> String {
        let layouts = |is: fn(AddedSignals) -> bool| {
            let names = self.capabilities.layouts.iter().filter(|layout| is((self.added_signals)(**layout)));
            names.map(|layout| layout.name()).collect::<Vec<_>>().join(", ")
        };
        let altered = layouts(|needs| needs == AddedSignals::Altered);
        let at_once = layouts(|needs| needs == AddedSignals::Nothing);
        let words = [(altered, "by ALTER TABLE"), (at_once, "by the first that is written")];
        let told: Vec<_> =
            words.iter().filter(|of| !of.0.is_empty()).map(|(names, how)| format!("in layout {names} {how}")).collect();
        if told.is_empty() { "none".into() } else { told.join(", ") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Signal, Tag, Tags, ValueType, capability::tests::capabilities};

    #[test]
    fn what_was_met_is_told_and_compared_by_its_first_number() {
        let info = |met, embedded| {
            let capabilities = Capabilities { embedded, ..capabilities() };
            BackendInfo { met, ..BackendInfo::new("x", "", capabilities) }
        };
        let known = info(&["9.6", "15.18"], false);
        assert_eq!(known.met_in_words(), "9.6, 15.18");
        let versions = ["15.2", "v9.6-rc1 (Debian 10.1)", "10.11", "unknown"].map(|version| known.has_met(version));
        assert_eq!(versions, [true, true, false, true]);
        assert_eq!(info(&[], false).met_in_words(), "never met a real one");
        assert_eq!((info(&[], true).is_own(), info(&["3.51.3"], true).is_own()), (true, false));
        assert_eq!(info(&[], true).met_in_words(), "part of iotbench");
    }

    #[test]
    fn more_tags_than_are_stored_are_a_misfit_that_says_so() {
        let tags = |most| TagSupport { most, ..TagSupport::NONE };
        let info = |most| BackendInfo { tags: tags(most), ..BackendInfo::new("x", "", capabilities()) };
        let signal = Signal { name: "a".into(), value_type: ValueType::F64, max_text_bytes: 0 };
        let tag = |name: &str| Tag { name: name.into(), values: TagValues::OneOf(vec!["y".into()]) };
        let tags = Tags::new(0, vec![tag("s"), tag("t")]).unwrap();
        let schema = Schema::new(vec![signal]).unwrap().with_tags(tags).unwrap();
        let told = |most| info(most).fit(Layout::Wide, &schema, 1_000_000).map_err(|misfit| misfit.to_string());
        assert_eq!(told(2), Ok(()));
        assert!(told(1).unwrap_err().starts_with("x stores at most 1 tags of a device, and these have 2"));
        assert_eq!(
            told(0).unwrap_err(),
            "x stores no tags of a device, and these have 2: leave some out with dataset.tags"
        );
        let values = TagValues::Listed { values: vec!["y".into()], of: vec![0] };
        let recorded = Tags::new(0, vec![Tag { name: "s".into(), values }]).unwrap();
        let recorded = schema.clone().with_tags(recorded).unwrap();
        let told_of_recording = info(0).fit(Layout::Wide, &recorded, 1_000_000).unwrap_err().to_string();
        assert!(told_of_recording.ends_with("with dataset.recorded_tags = \"leave_out\""), "{told_of_recording}");
        let narrow = BackendInfo { most_wide_signals: 0, ..info(2) };
        let told = |layout| narrow.fit(layout, &schema, 1_000_000).map_err(|misfit| misfit.to_string());
        assert_eq!(told(Layout::Narrow), Ok(()));
        assert!(
            told(Layout::Wide).unwrap_err().starts_with("x holds at most 0 signals in layout wide, and these are 1")
        );
        assert_eq!(narrow.in_words().iter().rev().nth(2), Some(&("signals in layout wide", "at most 0".into())));
        let words = |most| info(most).in_words().into_iter().rev().nth(1);
        assert_eq!(words(0), Some(("tags of a device", "none".into())));
        assert_eq!(words(3), Some(("tags of a device", "at most 3, all as text".into())));
        let typed = BackendInfo { tags: TagSupport { most: 3, typed: true, changing: true }, ..info(3) };
        assert_eq!(typed.in_words().into_iter().rev().nth(1).unwrap().1, "at most 3, each in its type; one may change");
    }

    #[test]
    fn signals_are_added_only_where_a_layout_says_how() {
        let info = BackendInfo {
            added_signals: |layout| match layout {
                Layout::Wide => AddedSignals::Altered,
                Layout::Narrow => AddedSignals::Not("its rows are counted"),
                Layout::Document | Layout::Bulk => AddedSignals::Nothing,
            },
            ..BackendInfo::new("x", "", capabilities())
        };
        let signals =
            ["a", "b"].map(|name| Signal { name: name.into(), value_type: ValueType::F64, max_text_bytes: 0 });
        let schema = Schema::new(signals.into()).unwrap();
        let fit = |layout, schema: &Schema| info.fit(layout, schema, 1_000_000);
        assert_eq!((fit(Layout::Wide, &schema), fit(Layout::Narrow, &schema)), (Ok(()), Ok(())));
        let added = schema.with_added(1).unwrap();
        assert_eq!(fit(Layout::Wide, &added), Ok(()));
        let told = fit(Layout::Narrow, &added).unwrap_err().to_string();
        assert_eq!(told, "x takes no signals in layout narrow that are added later: its rows are counted");
        assert_eq!(info.in_words().pop(), Some(("signals that are added", "in layout wide by ALTER TABLE".into())));
        let none = BackendInfo::new("x", "", capabilities());
        assert!(none.fit(Layout::Wide, &added, 1_000_000).is_err());
        assert_eq!(none.in_words().pop(), Some(("signals that are added", "none".into())));
    }
}
