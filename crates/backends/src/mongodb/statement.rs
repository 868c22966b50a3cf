//! Commands and pipelines that a user wrote: which of them touch the run's collection and nothing else, and their parameters in their
//! places. A parameter is a value of its own type, and never pasted into a text; only the name of a signal is, into a path.

use super::layout::Table;
use iotbench_backend_kit::{millis::Millis, span::Span};
use iotbench_core::{Parameter, Statement, StatementCall, parameter_of};
use mongodb::bson::{Bson, DateTime, Document, doc};

/// What stands for the run's collection.
const TABLE: &str = ":table";
const NS_OF_SECOND: i64 = 1_000_000_000;

/// What a command is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kind {
    name: &'static str,
    writes: bool,
    /// What else may stand in it.
    keys: &'static [&'static str],
}

const KINDS: [Kind; 5] = [
    Kind {
        name: "find",
        writes: false,
        keys: &[
            "filter",
            "sort",
            "projection",
            "hint",
            "skip",
            "limit",
            "batchSize",
            "collation",
            "allowDiskUse",
            "let",
        ],
    },
    Kind {
        name: "aggregate",
        writes: false,
        keys: &["pipeline", "cursor", "hint", "collation", "allowDiskUse", "let"],
    },
    Kind { name: "insert", writes: true, keys: &["documents", "ordered"] },
    Kind { name: "update", writes: true, keys: &["updates", "ordered", "let"] },
    Kind { name: "delete", writes: true, keys: &["deletes", "ordered", "let"] },
];

/// Stages that only read, of the collection that is asked.
const STAGES: [&str; 26] = [
    "$addFields",
    "$bucket",
    "$bucketAuto",
    "$count",
    "$densify",
    "$facet",
    "$fill",
    "$geoNear",
    "$graphLookup",
    "$group",
    "$limit",
    "$lookup",
    "$match",
    "$project",
    "$redact",
    "$replaceRoot",
    "$replaceWith",
    "$sample",
    "$set",
    "$setWindowFields",
    "$skip",
    "$sort",
    "$sortByCount",
    "$unionWith",
    "$unset",
    "$unwind",
];
/// Those of them that name a collection.
const JOINS: [&str; 3] = ["$lookup", "$graphLookup", "$unionWith"];

/// What runs a program on the server, or stores elsewhere, wherever it stands.
const NOWHERE: [&str; 6] = ["$where", "$function", "$accumulator", "$out", "$merge", "$eval"];

/// The command of a statement: a pipeline is one of the run's collection.
pub(crate) fn command(statement: &Statement) -> Result<Document, String> {
    let written: Bson = serde_json::from_str(&statement.to_string()).map_err(|e| format!("it is no JSON: {e}"))?;
    let command = match written {
        Bson::Array(stages) => doc! { "aggregate": TABLE, "pipeline": stages, "allowDiskUse": true },
        Bson::Document(command) => command,
        _ => return Err("it is neither a pipeline (a list of stages) nor a command".into()),
    };
    check(command, statement.writes())
}

/// A command that may be sent, with what it needs.
fn check(mut command: Document, writes: bool) -> Result<Document, String> {
    let names = |writes: bool| {
        let kinds = KINDS.iter().filter(|kind| kind.writes == writes);
        kinds.map(|kind| format!("{{\"{}\": \":table\", …}}", kind.name)).collect::<Vec<_>>().join(", ")
    };
    let first = command.keys().next().cloned().unwrap_or_default();
    let Some(kind) = KINDS.iter().find(|kind| kind.name == first) else {
        let pipeline = if writes { "" } else { " or a pipeline" };
        return Err(format!("it begins with {first:?}: write {}{pipeline}", names(writes)));
    };
    if kind.writes != writes {
        let hint = if writes { "leave `writes` out" } else { "it is taken with `writes = true`" };
        return Err(format!("{first} {}: {hint}", if kind.writes { "writes" } else { "only reads" }));
    }
    if command.get_str(kind.name).ok() != Some(TABLE) {
        return Err(format!("{first} is about another collection than the run's: write {{\"{first}\": \":table\"}}"));
    }
    if let Some(other) = command.keys().skip(1).find(|key| !kind.keys.contains(&key.as_str())) {
        return Err(format!("{other:?} is none of what stands in {first} here: {}", kind.keys.join(", ")));
    }
    command.values().try_for_each(nothing_elsewhere)?;
    if kind.name == "aggregate" {
        let stages =
            command.get_array("pipeline").map_err(|_| "aggregate has no list of stages: pipeline".to_owned())?;
        check_stages(stages)?;
        command.entry("cursor").or_insert_with(|| Document::new().into());
    }
    Ok(command)
}

fn check_stages(stages: &[Bson]) -> Result<(), String> {
    stages.iter().try_for_each(|stage| {
        let Some((name, what)) =
            stage.as_document().filter(|stage| stage.len() == 1).and_then(|stage| stage.iter().next())
        else {
            return Err("a stage is a document of one key, such as {\"$match\": {…}}".into());
        };
        if !STAGES.contains(&name.as_str()) {
            return Err(format!(
                "{name} is none of the stages that only read the run's collection: {}",
                STAGES.join(", ")
            ));
        }
        let of = what.as_document();
        let named = match what {
            Bson::String(_) => Some(what),
            _ => of.and_then(|of| of.get(if name == "$unionWith" { "coll" } else { "from" })),
        };
        let joins = JOINS.contains(&name.as_str());
        if joins && named.and_then(Bson::as_str) != Some(TABLE) {
            return Err(format!("{name} is about another collection than the run's: write \":table\""));
        }
        match name.as_str() {
            "$facet" => {
                of.into_iter().flat_map(Document::values).filter_map(Bson::as_array).try_for_each(|of| check_stages(of))
            }
            _ if joins => of.and_then(|of| of.get_array("pipeline").ok()).map_or(Ok(()), |of| check_stages(of)),
            _ => Ok(()),
        }
    })
}

/// Refuses what is refused wherever it stands.
fn nothing_elsewhere(value: &Bson) -> Result<(), String> {
    match value {
        Bson::Array(values) => values.iter().try_for_each(nothing_elsewhere),
        Bson::Document(document) => document.iter().try_for_each(|(key, value)| match NOWHERE.contains(&key.as_str()) {
            true => Err(format!(
                "{key} runs a program on the server or stores elsewhere: leave it out (insert, update and delete write)"
            )),
            false => nothing_elsewhere(value),
        }),
        Bson::JavaScriptCode(_) | Bson::JavaScriptCodeWithScope(_) => Err("it holds a program: leave it out".into()),
        _ => Ok(()),
    }
}

/// The command with all parameters in their places.
pub(crate) fn filled(command: &Document, table: &Table, call: &StatementCall<'_>) -> Document {
    let filled = command.iter().map(|(key, value)| (name(key, table, call), value_of(value, table, call)));
    filled.collect()
}

fn value_of(value: &Bson, table: &Table, call: &StatementCall<'_>) -> Bson {
    match value {
        Bson::Array(values) => values.iter().map(|value| value_of(value, table, call)).collect::<Vec<_>>().into(),
        Bson::Document(document) => filled(document, table, call).into(),
        Bson::String(text) => match parameter_of(text) {
            Ok(Some((place, Parameter::Signal))) => {
                format!("{}{}{}", &text[..place.start], signal(table, call), &text[place.end..]).into()
            }
            Ok(Some((_, parameter))) => parameter_value(parameter, table, call),
            _ => value.clone(),
        },
        other => other.clone(),
    }
}

fn name(key: &str, table: &Table, call: &StatementCall<'_>) -> String {
    match parameter_of(key) {
        Ok(Some((_, Parameter::Signal))) => signal(table, call).to_owned(),
        _ => key.to_owned(),
    }
}

fn signal<'a>(table: &'a Table, call: &StatementCall<'_>) -> &'a str {
    table.spec.schema.signals().get(usize::from(call.signal)).map_or("", |signal| &signal.name)
}

fn parameter_value(parameter: Parameter, table: &Table, call: &StatementCall<'_>) -> Bson {
    let date = |ns: i64| Bson::DateTime(DateTime::from_millis(first_ms(ns)));
    match parameter {
        Parameter::Table => table.name().into(),
        // As documents hold it.
        Parameter::Device => i32::try_from(call.device).unwrap_or(i32::MAX).into(),
        Parameter::Signal => signal(table, call).into(),
        Parameter::From => date(call.from_ns),
        Parameter::To => date(call.to_ns),
        Parameter::FromSecond => call.from_ns.div_euclid(NS_OF_SECOND).into(),
        Parameter::ToSecond => call.to_ns.div_euclid(NS_OF_SECOND).into(),
        Parameter::Window => first_ms(call.to_ns).saturating_sub(first_ms(call.from_ns)).into(),
    }
}

/// The first whole millisecond from a time on: a date has no more, and a datapoint within a millisecond is after its date.
fn first_ms(ns: i64) -> i64 {
    const EVER: Millis = Millis { first: i64::MIN / 1_000_000, last: i64::MAX / 1_000_000 };
    EVER.within(Span { first: ns, last: i64::MAX }).map_or(EVER.last, |from| from.first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mongodb::layout::tests::table;
    use iotbench_core::{Language, Layout, ValueType};

    fn of(text: &str, writes: bool) -> Result<Document, String> {
        command(&Statement::parse(text, Language::Commands, writes).map_err(|e| e.to_string())?)
    }

    #[test]
    fn parameters_become_values_of_their_own_types() {
        let text = r#"[{"$match": {"device": ":device", "time": {"$gte": ":from", "$lt": ":to"}, ":signal": {"$ne": "12:30"}}},
            {"$group": {"_id": null, "mean": {"$avg": "$:signal"}}}, {"$unionWith": ":table"}]"#;
        let statement = Statement::parse(text, Language::Commands, false).unwrap();
        let call = StatementCall {
            statement: &statement,
            device: 7,
            signal: 1,
            from_ns: 1_000_001,
            to_ns: 9_000_000,
            step_ns: None,
        };
        let filled = filled(&command(&statement).unwrap(), &table(Layout::Document, 9, ValueType::F64, "{}"), &call);
        let date = |ms| Bson::DateTime(DateTime::from_millis(ms));
        let stages = vec![
            doc! { "$match": { "device": 7, "time": { "$gte": date(2), "$lt": date(9) }, "b": { "$ne": "12:30" } } },
            doc! { "$group": { "_id": null, "mean": { "$avg": "$b" } } },
            doc! { "$unionWith": "t" },
        ];
        assert_eq!(filled, doc! { "aggregate": "t", "pipeline": stages, "allowDiskUse": true, "cursor": {} });
    }

    #[test]
    fn what_is_written_as_extended_json_has_its_type() {
        let found = of(
            r#"{"find": ":table", "filter": {"time": {"$gt": {"$date": "1970-01-01T00:00:01Z"}}}, "limit": 2}"#,
            false,
        );
        let date = DateTime::from_millis(1000);
        assert_eq!(found.unwrap(), doc! { "find": ":table", "filter": { "time": { "$gt": date } }, "limit": 2 });
    }

    #[test]
    fn what_touches_more_than_the_runs_collection_is_refused() {
        for (text, writes, says) in [
            ("{}", false, "it begins with \"\""),
            (r#"{"drop": ":table"}"#, true, "it begins with \"drop\""),
            (r#"{"eval": "1"}"#, false, "it begins with \"eval\""),
            (r#"{"find": "users"}"#, false, "another collection"),
            (r#"{"find": ":table", "find": "users"}"#, false, "another collection"),
            (r#"{"filter": {}, "find": ":table"}"#, false, "it begins with \"filter\""),
            (r#"{"find": ":table", "$db": "admin"}"#, false, "\"$db\" is none of what stands in find"),
            (r#"{"find": ":table", "filter": {"$where": "sleep(1)"}}"#, false, "$where runs a program"),
            (r#"{"find": ":table", "filter": {"a": {"$code": "1"}}}"#, false, "holds a program"),
            (r#"[{"$match": {}}, {"$out": "users"}]"#, false, "$out runs a program on the server or stores"),
            (r#"[{"$merge": {"into": ":table"}}]"#, true, "leave `writes` out"),
            (r#"{"aggregate": ":table", "pipeline": [{"$merge": "users"}]}"#, false, "$merge"),
            (r#"[{"$facet": {"a": [{"$lookup": {"from": "users", "pipeline": []}}]}}]"#, false, "another collection"),
            (
                r#"[{"$lookup": {"from": ":table", "pipeline": [{"$unionWith": "users"}]}}]"#,
                false,
                "another collection",
            ),
            (r#"[{"$unionWith": {"coll": "users"}}]"#, false, "another collection"),
            (r#"[{"$unionWith": {"pipeline": []}}]"#, false, "another collection"),
            (r#"[{"$graphLookup": {}}]"#, false, "another collection"),
            (r#"[{"$currentOp": {}}]"#, false, "none of the stages that only read"),
            (r#"[{"$match": {}, "$out": "users"}]"#, false, "$out"),
            (r#"[[]]"#, false, "a document of one key"),
            (r#"[{"$group": {"_id": 1, "a": {"$accumulator": {}}}}]"#, false, "$accumulator"),
            (r#"{"delete": ":table", "deletes": []}"#, false, "taken with `writes = true`"),
            (r#"{"find": ":table"}"#, true, "leave `writes` out"),
            (r#"{"insert": "users", "documents": []}"#, true, "another collection"),
            (r#"{"update": ":table", "updates": [{"q": {"$where": "1"}}]}"#, true, "$where"),
        ] {
            let refused = of(text, writes).unwrap_err();
            assert!(refused.contains(says), "{text}: {refused}");
        }
        for text in [
            r#"{"insert": ":table", "documents": [{"time": ":from", "device": ":device", ":signal": 1.5}]}"#,
            r#"{"update": ":table", "updates": [{"q": {"device": ":device"}, "u": {"$inc": {":signal": 1}}, "multi": true}]}"#,
            r#"{"delete": ":table", "deletes": [{"q": {"time": {"$lt": ":from"}}, "limit": 0}]}"#,
        ] {
            assert!(of(text, true).is_ok(), "{text}");
        }
    }
}
