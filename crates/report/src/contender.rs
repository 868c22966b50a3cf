//! Who is compared with whom. Pure.

use crate::{
    document::{Document, Status},
    reported_run::ReportedRun,
    score::promise,
    terminal::figure::{count, significant},
};
use std::collections::{HashMap, HashSet};

/// Contenders that can be ranked together: the same profile, and where it writes, the same promise.
#[derive(Clone, Debug)]
pub(crate) struct Field<'a> {
    pub(crate) profile: String,
    /// What an acknowledged write survives; none where all promises are in one field, or nothing is written.
    pub(crate) promise: Option<String>,
    pub(crate) contenders: Vec<Contender<'a>>,
}

/// The runs of one database in one form.
#[derive(Clone, Debug)]
pub(crate) struct Contender<'a> {
    /// Such as `mariadb:narrow`.
    pub(crate) name: String,
    /// Its place among all contenders of the report: what gives it its colour.
    pub(crate) place: usize,
    pub(crate) runs: Vec<&'a ReportedRun>,
}

impl Contender<'_> {
    /// Its runs that can be believed.
    pub(crate) fn valid(&self) -> impl Iterator<Item = &Document> {
        self.runs.iter().map(|run| &run.document).filter(|document| document.verdict.status == Status::Valid)
    }

    /// Whether its valid runs are sittings, each with a time of its own: how far they lie apart tells how far another would.
    pub(crate) fn has_sittings(&self) -> bool {
        let mut valid = self.runs.iter().filter(|run| run.document.verdict.status == Status::Valid);
        self.valid().nth(1).is_some() && valid.all(|run| run.is_sitting)
    }

    /// What its acknowledged writes survive.
    pub(crate) fn promise(&self) -> String {
        self.runs.first().map_or_else(String::new, |run| promise(&run.document))
    }
}

/// The fields of some runs, in the order in which they are first named.
pub(crate) fn fields(runs: &[ReportedRun], across_durability: bool) -> Vec<Field<'_>> {
    let names = names(runs);
    let mut places: Vec<&String> = names.iter().collect();
    let mut seen = HashSet::new();
    places.retain(|name| seen.insert(*name));
    let mut fields: Vec<Field<'_>> = Vec::new();
    for (run, name) in runs.iter().zip(&names) {
        let profile = run.document.profile_title();
        let writes = run.document.points.counts.generated > 0;
        let promise = (writes && !across_durability).then(|| promise(&run.document));
        let known = fields.iter().position(|field| field.profile == profile && field.promise == promise);
        let field = known.unwrap_or(fields.len());
        if known.is_none() {
            fields.push(Field { profile, promise, contenders: Vec::new() });
        }
        let Some(field) = fields.get_mut(field) else { continue };
        match field.contenders.iter_mut().find(|contender| contender.name == *name) {
            Some(contender) => contender.runs.push(run),
            None => {
                let place = places.iter().position(|other| *other == name).unwrap_or_default();
                field.contenders.push(Contender { name: name.clone(), place, runs: vec![run] });
            }
        }
    }
    fields
}

/// The name of each run's contender. Runs of one database whose profiles differ, by a load or an action on its processes, are
/// no repetitions of each other: what differs is in their names.
fn names(runs: &[ReportedRun]) -> Vec<String> {
    let of = |run: &ReportedRun| (run.document.profile_title(), target(&run.document));
    let mut forms: HashMap<_, Vec<&Document>> = HashMap::new();
    for run in runs {
        let forms = forms.entry(of(run)).or_default();
        if forms.iter().all(|form| form.profile_sha256 != run.document.profile_sha256) {
            forms.push(&run.document);
        }
    }
    let name = |run: &ReportedRun| {
        let (profile, target) = of(run);
        let forms = forms.get(&(profile, target.clone())).map_or(&[][..], Vec::as_slice);
        let own = forms.iter().position(|form| form.profile_sha256 == run.document.profile_sha256).unwrap_or_default();
        let told = told(&run.document);
        match forms.len() {
            0 | 1 => target,
            _ if forms.iter().filter(|form| self::told(form) == told).count() == 1 => format!("{target}, {told}"),
            n => format!("{target}, {told}, settings {} of {n}", own + 1),
        }
    };
    runs.iter().map(name).collect()
}

/// The load, and what was done to processes meanwhile: `50 users, restart`.
fn told(document: &Document) -> String {
    let load = document.load.groups.iter().map(|group| match (group.users, group.devices, group.rate_per_s) {
        (Some(users), ..) => format!("{} users", count(users.into())),
        (None, Some(devices), _) => format!("{} devices", count(devices.into())),
        (None, None, Some(rate)) => format!("{}/s", significant(rate)),
        (None, None, None) => group.model.clone(),
    });
    let actions = document.scenario.iter().flat_map(|scenario| &scenario.marks).map(|mark| mark.action.clone());
    let parts: Vec<_> = [load.collect::<Vec<_>>().join(" + ")].into_iter().chain(actions).collect();
    parts.join(", ")
}

/// Database and layout, how it reads, and the value of a sweep.
pub(crate) fn target(document: &Document) -> String {
    let value = document.sweep.iter().map(|swept| format!(", {} = {}", swept.field, swept.value));
    std::iter::once(document.target.title()).chain(value).collect()
}
