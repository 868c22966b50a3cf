//! The checks, one after the other.

use crate::{
    Outcome, Verdict, added,
    compare::{Everything, Exactness, Rows, agree},
    data::{self, Dataset, ORIGIN_NS, Owned, schema},
    known, questions,
    subject::{Check, Failure, Session, Subject, ask, ensure},
};
use iotbench_core::{
    Applied, Backend, Batch, Cause, Consecutive, Database, Devices, Duplicates, Error, Name, OpenRequest, Query,
    Reader, Registry, Run, Schema, Settings, TagsKept, Target, TimeRange, Value, ValueType,
};
use std::{collections::BTreeSet, num::NonZeroU64};

/// Makes all checks that apply.
pub(crate) async fn all(subject: &Subject<'_>, outcomes: &mut Vec<Outcome>) {
    let mut note = |check: &str, result: Check| {
        let verdict = result.err().map_or(Verdict::Passed, |Failure(reason)| Verdict::Failed(reason));
        outcomes.push(Outcome { check: check.into(), verdict });
    };
    note("it says what it is", facts(subject).await);
    note("a number that is not finite is refused", not_finite(subject).await);
    note("several writes are one transaction", transactions(subject).await);
    if !subject.capabilities().stores {
        let reason = "the backend keeps nothing".to_owned();
        outcomes.push(Outcome { check: "everything that is read".into(), verdict: Verdict::Skipped(reason) });
        return;
    }
    note("an empty table answers with nothing", nothing(subject).await);
    note("datapoints of equal device and time", duplicates(subject).await);
    note("a table of ours is created anew, of whichever run", replaced(subject).await);
    if subject.capabilities().empties {
        note("a table made anew is empty, and its writers go on", emptied(subject).await);
    }
    note("a stranger's object is refused and left alone", foreign(subject).await);
    note("dropping leaves nothing, and others' things as they were", dropped(subject).await);
    note("known answers: numbers", known::numbers(subject).await);
    let texts = schema(&[(ValueType::Text, 1)]).map(|schema| subject.misfit(&schema));
    match texts {
        Ok(None) => note("known answers: texts that read as numbers", known::numeric_texts(subject).await),
        Ok(Some(misfit)) => outcomes.push(skipped("known answers: texts", &misfit.to_string())),
        Err(e) => note("known answers: texts", Err(e.into())),
    }
    outcomes.extend(added::all(subject).await);
    compared(subject, outcomes).await;
}

fn skipped(check: &str, reason: &str) -> Outcome {
    Outcome { check: check.into(), verdict: Verdict::Skipped(reason.into()) }
}

/// The place among the ordinary ones of the dataset that every question is asked of: two devices of two whole numbers.
const ASKED_ALL: u64 = 5;

/// Holds the backend against the oracle over every dataset that it can hold.
async fn compared(subject: &Subject<'_>, outcomes: &mut Vec<Outcome>) {
    let capabilities = subject.capabilities();
    let datasets = data::ordinary(capabilities).and_then(|ordinary| {
        Ok((ordinary, data::extreme(capabilities)?, [data::tagged(capabilities)?], [data::replaced(capabilities)?]))
    });
    let (ordinary, extreme, tagged, replaced) = match datasets {
        Ok(datasets) => datasets,
        Err(e) => return outcomes.push(Outcome { check: "datasets".into(), verdict: Verdict::Failed(e.to_string()) }),
    };
    // By the tag that changes nobody is asked for.
    let ordinary = ordinary.iter().zip(1..).map(|(dataset, seed)| {
        let all = questions::about(dataset);
        (dataset, if seed == ASKED_ALL { all } else { questions::drawn(all, seed) })
    });
    let replaced = replaced.iter().map(|dataset| (dataset, questions::drawn(questions::about_replaced(dataset), 0)));
    let extreme = extreme.iter().map(|dataset| (dataset, questions::about_extremes(dataset)));
    let tagged = tagged.iter().map(|dataset| (dataset, questions::about_tags(dataset)));
    for (dataset, questions) in ordinary.chain(replaced).chain(extreme).chain(tagged) {
        if let Some(misfit) = subject.misfit(&dataset.schema) {
            outcomes.push(skipped(dataset.name, &misfit.to_string()));
            continue;
        }
        if let Err(Failure(reason)) = compare_dataset(subject, dataset, questions, outcomes).await {
            outcomes.push(Outcome { check: dataset.name.into(), verdict: Verdict::Failed(reason) });
        }
    }
}

async fn compare_dataset(
    subject: &Subject<'_>,
    dataset: &Dataset,
    questions: Vec<(&'static str, Vec<Query>)>,
    outcomes: &mut Vec<Outcome>,
) -> Check {
    let table = subject.table(&dataset.schema, dataset.devices, "compared")?;
    let session = subject.open(&table)?;
    session.fill(&dataset.batches).await?;
    session.expect_counts(dataset.points(), dataset.values()).await?;
    let oracle = oracle()?.open(OpenRequest { target: Target::default(), settings: Settings::default(), table })?;
    fill_oracle(&*oracle, &dataset.batches).await?;
    let mut judge = oracle.reader().await?;
    let everything = Everything::from(ask(&mut *judge, &Query::Scan).await?.0);
    let mut reader = session.reader().await?;
    let visible = reader.visible_points().await?;
    ensure(visible == dataset.points(), || format!("{visible} datapoints are visible of {}", dataset.points()))?;
    let exactness = Exactness::new(subject.capabilities(), subject.layout, &dataset.schema);
    for (check, queries) in questions {
        let mut verdict = Verdict::Passed;
        for query in &queries {
            let (expected, _) = ask(&mut *judge, query).await?;
            let answer = ask(&mut *reader, query).await;
            let agreed = answer.and_then(|(got, _)| agree(query, &got, &expected, &everything, exactness));
            if let Err(Failure(reason)) = agreed {
                verdict = Verdict::Failed(format!("{query:?}: {reason}"));
                break;
            }
        }
        outcomes.push(Outcome { check: format!("{}: {check}", dataset.name), verdict });
    }
    if !dataset.schema.tags().is_empty() {
        let verdict = tags_come_back(&mut *reader, dataset).await;
        let verdict = verdict.err().map_or(Verdict::Passed, |Failure(reason)| Verdict::Failed(reason));
        outcomes.push(Outcome { check: format!("{}: the tags come back", dataset.name), verdict });
    }
    drop(reader);
    session.database.drop_created().await?;
    Ok(())
}

/// Each device that datapoints were written of has its tags, of each of its units, in one page and in pages of one.
async fn tags_come_back(reader: &mut dyn Reader, dataset: &Dataset) -> Check {
    let tags = dataset.schema.tags();
    let at = |device, index| {
        let values = tags.at(device, index).map(|(_, value)| Some(value.to_string()));
        (device, values.collect::<Vec<_>>())
    };
    let parts = dataset.batches.iter().flat_map(|batch| batch.tagged_rows(tags));
    let written: BTreeSet<_> = parts.map(|part| at(part.run.device, part.run.first)).collect();
    let all = 0..dataset.devices;
    for pages in [vec![all.clone()], all.map(|device| device..device + 1).collect()] {
        let mut told = BTreeSet::new();
        for page in pages {
            let mut take = |device: u32, values: &[Option<&str>]| {
                told.insert((device, values.iter().map(|value| value.map(Into::into)).collect()));
                if page.contains(&device) {
                    return Ok(());
                }
                Err(Error::new(Cause::Protocol, format!("device {device} is not of {page:?}")))
            };
            let kept = reader.tags(page.clone(), &mut take).await?;
            ensure(kept != TagsKept::CannotTell, || "it does not tell them".into())?;
        }
        let lacks = written.difference(&told).next();
        ensure(lacks.is_none(), || format!("{lacks:?} is not told"))?;
        // Of a device without datapoints the tags may be there.
        let alien = told.iter().find(|row| !written.contains(*row) && **row != at(row.0, 0));
        ensure(alien.is_none(), || format!("{alien:?} is told"))?;
    }
    Ok(())
}

fn oracle() -> Result<&'static dyn Backend, Failure> {
    Ok(Registry::new(iotbench_backends::BACKENDS).find("memory")?)
}

async fn fill_oracle(oracle: &dyn Database, batches: &[Batch]) -> Check {
    oracle.create().await?;
    let mut writer = oracle.writer().await?;
    for batch in batches {
        writer.write(batch).await?;
    }
    Ok(())
}

/// A schema of one 64-bit float, which every backend holds, and a batch of it.
fn simple_schema() -> Result<Schema, Failure> {
    Ok(schema(&[(ValueType::F64, 1)])?)
}

fn simple_batch(schema: &Schema, times: &[i64], value: f64) -> Batch {
    let mut batch = Batch::new(schema);
    let run = Run { device: 0, first: 0, count: u32::try_from(times.len()).unwrap_or(u32::MAX) };
    batch.append(run, |timestamps, columns| {
        timestamps.extend(times.iter().map(|second| ORIGIN_NS + second * 1_000_000_000));
        for _ in times {
            let pushed = columns[0].push(Value::F64(value));
            debug_assert!(pushed, "the column is f64");
        }
    });
    batch
}

fn simple_session(subject: &Subject<'_>, run_id: &str) -> Result<(Schema, Session), Failure> {
    let schema = simple_schema()?;
    let session = subject.open(&subject.table(&schema, 1, run_id)?)?;
    Ok((schema, session))
}

async fn facts(subject: &Subject<'_>) -> Check {
    let (_, session) = simple_session(subject, "facts")?;
    let facts = session.database.ping().await?;
    ensure(!facts.product.is_empty() && !facts.version.is_empty() && !facts.method.is_empty(), || {
        format!("product, version and method are to be named: {facts:?}")
    })?;
    session.database.drop_created().await?;
    Ok(())
}

async fn not_finite(subject: &Subject<'_>) -> Check {
    let (schema, session) = simple_session(subject, "not finite")?;
    session.fill(&[]).await?;
    let mut writer = session.database.writer().await?;
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut batch = simple_batch(&schema, &[0, 1], 1.0);
        batch.append(Run { device: 0, first: 2, count: 1 }, |timestamps, columns| {
            timestamps.push(ORIGIN_NS + 2_000_000_000);
            let pushed = columns[0].push(Value::F64(bad));
            debug_assert!(pushed, "the column is f64");
        });
        match writer.write(&batch).await {
            Ok(_) => return Err(Failure(format!("{bad} was acknowledged"))),
            Err(e) => ensure(e.cause == Cause::Data && e.applied == Applied::No, || {
                format!("{bad} was refused as {:?} with {:?} applied", e.cause, e.applied)
            })?,
        }
    }
    session.expect_counts(0, 0).await?;
    session.write(&mut *writer, &[simple_batch(&schema, &[7], 1.0)]).await?;
    session.expect_counts(1, 1).await?;
    drop(writer);
    Ok(session.database.drop_created().await?)
}

async fn nothing(subject: &Subject<'_>) -> Check {
    let schema = simple_schema()?;
    let session = subject.open(&subject.table(&schema, 3, "nothing")?)?;
    session.fill(&[]).await?;
    session.expect_counts(0, 0).await?;
    let mut reader = session.reader().await?;
    for query in questions::of_nothing() {
        let (rows, _) = ask(&mut *reader, &query).await?;
        ensure(rows == Rows::default(), || format!("{query:?} was answered with {rows:?}"))?;
    }
    let (rows, _) = ask(&mut *reader, &Query::Count).await?;
    let zeros = vec![Some(Owned::I64(0)); 2];
    ensure(rows.0.len() == 1 && rows.0[0].values == zeros, || format!("the count is {rows:?}"))?;
    drop(reader);
    session.write(&mut *session.database.writer().await?, &[Batch::new(&schema)]).await?;
    session.expect_counts(0, 0).await?;
    Ok(session.database.drop_created().await?)
}

async fn duplicates(subject: &Subject<'_>) -> Check {
    let (schema, session) = simple_session(subject, "duplicates")?;
    let (first, second) = (simple_batch(&schema, &[1, 2], 1.0), simple_batch(&schema, &[2, 3], 2.0));
    session.fill(&[first]).await?;
    let mut writer = session.database.writer().await?;
    let written = writer.write(&second).await;
    let values: &[f64] = match subject.capabilities().duplicates {
        Duplicates::Keep => &[1.0, 1.0, 2.0, 2.0],
        Duplicates::Overwrite => &[1.0, 2.0, 2.0],
        Duplicates::Reject => &[1.0, 1.0],
    };
    let is_refused = written.as_ref().err().is_some_and(|e| e.cause == Cause::Data);
    ensure(is_refused == (subject.capabilities().duplicates == Duplicates::Reject), || format!("it was {written:?}"))?;
    session.expect_counts(values.len() as u64, values.len() as u64).await?;
    let (rows, _) = ask(&mut *session.reader().await?, &Query::Scan).await?;
    let stored: Vec<_> = rows.0.iter().flat_map(|row| row.values.clone()).collect();
    let expected: Vec<_> = values.iter().map(|&v| Some(Owned::F64(v))).collect();
    ensure(stored == expected, || format!("{stored:?} is stored and not {expected:?}"))?;
    // Of equal times the one that was stored first is before the other, and there is no rate over no time.
    let steps: Vec<_> = values.windows(2).map(|pair| Some(Owned::F64(pair[1] - pair[0]))).collect();
    let times = if subject.capabilities().duplicates == Duplicates::Reject { 2 } else { 3 };
    for (per_ns, rows) in [(None, steps.len()), (NonZeroU64::new(1_000_000), times - 1)] {
        let (devices, what) = (Devices::All, Consecutive::Differences { per_ns });
        let query = Query::Consecutive { devices, signal: 0, range: TimeRange::ALL, what };
        let (got, _) = ask(&mut *session.reader().await?, &query).await?;
        let changes: Vec<_> = got.0.iter().flat_map(|row| row.values.clone()).collect();
        let is_right = changes.len() == rows && (per_ns.is_some() || changes == steps);
        ensure(is_right, || format!("{query:?} is answered with {changes:?}"))?;
    }
    drop(writer);
    Ok(session.database.drop_created().await?)
}

async fn transactions(subject: &Subject<'_>) -> Check {
    let (schema, session) = simple_session(subject, "transactions")?;
    session.fill(&[]).await?;
    let mut writer = session.database.writer().await?;
    let batches: Vec<_> = (0..3).map(|i| simple_batch(&schema, &[2 * i, 2 * i + 1], 1.0)).collect();
    if subject.capabilities().transactions {
        for round in 1..=2 {
            writer.begin().await?;
            session.write(&mut *writer, &batches).await?;
            writer.commit().await?;
            if subject.capabilities().duplicates == Duplicates::Keep {
                session.expect_counts(6 * round, 6 * round).await?;
            }
        }
        writer.begin().await?;
        session.write(&mut *writer, &[]).await?;
        writer.commit().await?;
    } else {
        let refused = writer.begin().await.is_err() && writer.commit().await.is_err();
        ensure(refused, || "it began or committed what its capabilities do not know".into())?;
    }
    drop(writer);
    Ok(session.database.drop_created().await?)
}

async fn replaced(subject: &Subject<'_>) -> Check {
    let (schema, first) = simple_session(subject, "first run")?;
    let batch = simple_batch(&schema, &[1, 2, 3], 1.0);
    first.fill(std::slice::from_ref(&batch)).await?;
    first.expect_counts(3, 3).await?;
    first.fill(&[]).await?;
    first.expect_counts(0, 0).await?;
    first.fill(std::slice::from_ref(&batch)).await?;
    // A run that goes on is not replaced where the database knows that it does: this one has ended.
    drop(first);
    let second_table = subject.table(&schema_of_two()?, 2, "second run")?;
    let second: Session = subject.open(&second_table)?;
    second.fill(&[]).await?;
    second.expect_counts(0, 0).await?;
    // What the first run created is no longer there: it has nothing to drop.
    let (_, first) = simple_session(subject, "first run")?;
    first.database.drop_created().await?;
    second.expect_counts(0, 0).await?;
    Ok(second.database.drop_created().await?)
}

fn schema_of_two() -> Result<Schema, Failure> {
    Ok(schema(&[(ValueType::F64, 2)])?)
}

async fn emptied(subject: &Subject<'_>) -> Check {
    let (schema, session) = simple_session(subject, "emptied")?;
    session.database.create().await?;
    let mut writer = session.database.writer().await?;
    for points in 1..=3 {
        let seconds: Vec<_> = (0..points).collect();
        session.write(&mut *writer, &[simple_batch(&schema, &seconds, 1.0)]).await?;
        let stored = points.unsigned_abs();
        session.expect_counts(stored, stored).await?;
        session.database.create().await?;
        session.expect_counts(0, 0).await?;
    }
    drop(writer);
    Ok(session.database.drop_created().await?)
}

async fn foreign(subject: &Subject<'_>) -> Check {
    let mut table = subject.table(&simple_schema()?, 1, "foreign")?;
    // What is planted stays: it has a name of its own.
    table.name = Name::new("conformance_foreign")?;
    let session = subject.open(&table)?;
    if !subject.fixture.plant_foreign(&table).await {
        return Ok(());
    }
    let before = subject.fixture.contents().await;
    match session.database.create().await {
        Ok(()) => return Err(Failure("it was created over".into())),
        Err(e) => ensure(e.cause == Cause::NotOurs, || format!("the refusal says {e}"))?,
    }
    session.database.drop_created().await?;
    let after = subject.fixture.contents().await;
    ensure(before == after, || format!("{before:?} became {after:?}"))
}

async fn dropped(subject: &Subject<'_>) -> Check {
    let schema = simple_schema()?;
    let session = subject.open(&subject.table(&schema, 1, "dropped")?)?;
    let before = subject.fixture.contents().await;
    session.fill(&[simple_batch(&schema, &[1, 2], 1.0)]).await?;
    let mut reader = session.reader().await?;
    ask(&mut *reader, &Query::Scan).await?;
    drop(reader);
    for _ in 0..2 {
        session.database.drop_created().await?;
        let after = subject.fixture.contents().await;
        ensure(before == after, || format!("{before:?} became {after:?}"))?;
    }
    ensure(session.database.count().await.is_err(), || "a table that was dropped can be counted".into())
}
