//! Who is compared with whom. Pure.

use crate::{
    document::{Document, Status},
    reported_run::ReportedRun,
    score::promise,
};

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
    let mut fields: Vec<Field<'_>> = Vec::new();
    for run in runs {
        let profile = run.document.profile_title();
        let writes = run.document.points.generated > 0;
        let promise = (writes && !across_durability).then(|| promise(&run.document));
        let known = fields.iter().position(|field| field.profile == profile && field.promise == promise);
        let field = known.unwrap_or(fields.len());
        if known.is_none() {
            fields.push(Field { profile, promise, contenders: Vec::new() });
        }
        let Some(field) = fields.get_mut(field) else { continue };
        let name = target(&run.document);
        match field.contenders.iter_mut().find(|contender| contender.name == name) {
            Some(contender) => contender.runs.push(run),
            None => {
                let place = names.iter().position(|other| *other == name).unwrap_or_default();
                field.contenders.push(Contender { name, place, runs: vec![run] });
            }
        }
    }
    fields
}

/// All contenders' names, once each.
fn names(runs: &[ReportedRun]) -> Vec<String> {
    let mut names = Vec::new();
    for name in runs.iter().map(|run| target(&run.document)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Database and layout, how it reads, and the value of a sweep.
pub(crate) fn target(document: &Document) -> String {
    let value = document.sweep.iter().map(|swept| format!(", {} = {}", swept.field, swept.value));
    std::iter::once(document.target.title()).chain(value).collect()
}
