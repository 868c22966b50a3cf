//! What is ours: a metric `iotbench_marker.TABLE` for each table, whose one value names the run. A server has no databases:
//! only metrics whose names begin as ours do, and whose table has this mark, are ever deleted.
//!
//! A value that was acknowledged is visible later, and so is a mark: who writes one goes on once it is, look by look. A second
//! value of that metric is a *fence*: when it is visible, what was queued before it on that server is stored.

use super::{
    client::{Client, of_table},
    config::{Config, Node},
    document::Document,
    names::{OBJECT, OWNER, flags, marker, markers},
    question::question_about,
};
use iotbench_backend_kit::{
    flag::{Flag, Flags, Seen},
    looks::Looks,
    marker::{self, MarkerDocument},
    metrics::{Cell, prefix},
    ownership::{Found, Owned, Ownership},
};
use iotbench_core::{Action, Cause, Error, Marker, Name, OwnedObject, TableSpec};
use serde_json::json;
use std::sync::Arc;

/// The times of the two values of a marker.
const MARK_MS: i64 = 0;
const FENCE_MS: i64 = 1;
/// The text of a flag that is down.
const DOWN: &str = "down";
/// So often a metric is deleted again.
const MAX_REPEATS: u32 = 5;

/// The two values of a marker.
#[derive(Debug, Default)]
struct Values {
    mark: Option<Marker>,
    fence: i64,
}

/// The tables of ours on servers over one store.
pub(crate) struct Tables {
    pub(crate) config: Arc<Config>,
    pub(crate) client: Client,
    pub(crate) table: Arc<TableSpec>,
    pub(crate) looks: Looks,
}

impl Ownership for Tables {
    type Handle = ();

    fn own(&self) -> (&Name, &Marker) {
        (&self.table.name, &self.table.marker)
    }

    async fn find(&mut self, name: &Name) -> Result<Found, Error> {
        if let Some(marker) = look(&mut self.client, name).await?.mark {
            return Ok(Found::Ours(Owned { marker, exists: true, handle: () }));
        }
        if self.client.metrics(&prefix(name)).await?.is_empty() {
            return Ok(Found::Nothing);
        }
        let message = format!("{} exist without our marker: choose another table name", of_table(name));
        Ok(Found::Foreign(Error::new(Cause::NotOurs, message)))
    }

    /// It is made once its mark is visible.
    async fn make(&mut self, earlier: Option<Owned>) -> Result<(), Error> {
        let name = &self.table.name;
        if earlier.is_some() {
            remove(&self.config.nodes, name, &self.looks).await?;
            self.client = Client::of_any(&self.config.nodes).await?;
        }
        put_mark(&mut self.client, &self.table, &self.looks).await
    }

    async fn take_over(&mut self, _: Owned) -> Result<bool, Error> {
        put_mark(&mut self.client, &self.table, &self.looks).await.map(|()| true)
    }

    async fn remove(&mut self, name: &Name, _: Owned) -> Result<(), Error> {
        remove(&self.config.nodes, name, &self.looks).await
    }

    async fn list(&mut self) -> Result<Vec<OwnedObject>, Error> {
        let mut objects = Vec::new();
        let markers = markers();
        for metric in self.client.metrics(&markers).await? {
            let Some(name) = metric.strip_prefix(&markers).and_then(|name| Name::new(name).ok()) else { continue };
            match look(&mut self.client, &name).await {
                Ok(values) => objects.extend(values.mark.map(|mark| OwnedObject { name, run_id: mark.run_id })),
                // Somebody else's metric of such a name.
                Err(e) if e.cause == Cause::NotOurs => {}
                Err(e) => return Err(e),
            }
        }
        Ok(objects)
    }
}

/// A flag is a value of its owner's series. One that is down is a value too, and goes with the table: a server that forgot a series
/// would have to forget it on every node.
impl Flags for Tables {
    async fn flags(&mut self, name: &Name) -> Result<Seen, Error> {
        let take = |document: &Document<'_>| {
            let values = document.queries.iter().flat_map(|m| &m.results).flat_map(|group| &group.values);
            let text = |cell: &Cell<'_>| if let Cell::Text(text) = cell { Flag::of_text(text) } else { None };
            Ok(values.filter_map(|value| text(&value.cell)).collect())
        };
        let (flags, _) = self.client.ask(question_about(&flags(name)), take).await?;
        Ok(Seen { flags, now_s: self.client.now_s() })
    }

    async fn put_up(&mut self, name: &Name, flag: &Flag, _: bool) -> Result<(), Error> {
        self.client.write(flag_of(name, &flag.owner, &flag.text())).await
    }

    async fn take_down(&mut self, name: &Name, owner: &str) -> Result<(), Error> {
        if self.flags(name).await?.flags.iter().any(|flag| flag.owner == owner) {
            self.client.write(flag_of(name, owner, DOWN)).await?;
        }
        Ok(())
    }
}

/// The value of an owner's flag as it is written.
fn flag_of(table: &Name, owner: &str, text: &str) -> String {
    let tags = json!({ OWNER: owner });
    json!([{ "name": flags(table), "type": "string", "timestamp": MARK_MS, "value": text, "tags": tags }]).to_string()
}

/// Refuses a table that is not there, or is no longer ours, whichever run made it.
pub(crate) async fn check_exists(client: &mut Client, table: &Name) -> Result<(), Error> {
    match look(client, table).await?.mark {
        Some(_) => Ok(()),
        None => Err(Error::new(
            Cause::Server,
            format!("{} are not there, or their mark: somebody deleted it", of_table(table)),
        )),
    }
}

/// Deletes the metrics of a table that is ours, and its mark last: what is left half-way can be found again. Each step has a
/// connection of its own: fences and deletions may take longer than a server leaves an idle one open.
async fn remove(nodes: &[Node], table: &Name, looks: &Looks) -> Result<(), Error> {
    // What is still queued would come back after it was deleted. Each server has a queue of its own.
    for node in nodes {
        put_fence(&mut Client::connect(&node.server).await?, table, looks).await?;
    }
    // A mark's name may begin another table's.
    let its_own = |begins: String| move |metric: &String| begins.ends_with('.') || *metric == begins;
    for begins in [prefix(table), marker(table), flags(table)] {
        let metrics = Client::of_any(nodes).await?.metrics(&begins).await?;
        for metric in metrics.into_iter().filter(its_own(begins)) {
            // Each server remembers which series it has put into the index, and forgets them when it deletes them.
            for node in nodes {
                delete(node, table, &metric, looks).await?;
            }
        }
    }
    visible(&mut Client::of_any(nodes).await?, table, looks, |found| found.mark.is_none()).await
}

/// Deletes a metric on one server. What that stores at the same time may be in the way, as of a run that was killed: then its
/// store refuses, and takes it once that is stored, which another fence tells.
async fn delete(node: &Node, table: &Name, metric: &str, looks: &Looks) -> Result<(), Error> {
    let mut repeats = 0;
    loop {
        match Client::connect(&node.server).await?.delete(metric).await {
            Err(error) if error.cause == Cause::Server && error.action != Action::Stop && repeats < MAX_REPEATS => {
                repeats += 1;
                put_fence(&mut Client::connect(&node.server).await?, table, looks).await?;
            }
            deleted => return deleted,
        }
    }
}

async fn put_mark(client: &mut Client, table: &TableSpec, looks: &Looks) -> Result<(), Error> {
    let mark = MarkerDocument::new(&table.marker, marker::Nothing {});
    let text = serde_json::to_string(&mark).map_err(|e| Error::new(Cause::Client, e))?;
    client.write(value(&table.name, MARK_MS, &text)).await?;
    visible(client, &table.name, looks, |found| found.mark.as_ref() == Some(&table.marker)).await
}

async fn put_fence(client: &mut Client, table: &Name, looks: &Looks) -> Result<(), Error> {
    let fence = look(client, table).await?.fence + 1;
    client.write(value(table, FENCE_MS, &fence.to_string())).await?;
    visible(client, table, looks, |found| found.fence == fence).await
}

/// Looks until what was written is seen.
async fn visible(
    client: &mut Client,
    table: &Name,
    looks: &Looks,
    is_so: impl Fn(&Values) -> bool,
) -> Result<(), Error> {
    while !is_so(&look(client, table).await?) {
        looks.not_yet().await;
    }
    Ok(())
}

/// One value of a marker as it is written.
fn value(table: &Name, ms: i64, text: &str) -> String {
    let tags = json!({ OBJECT: "table" });
    json!([{ "name": marker(table), "type": "string", "timestamp": ms, "value": text, "tags": tags }]).to_string()
}

async fn look(client: &mut Client, table: &Name) -> Result<Values, Error> {
    let (found, _) = client
        .ask(question_about(&marker(table)), |document| {
            let mut found = Values::default();
            for value in document.queries.iter().flat_map(|m| &m.results).flat_map(|group| &group.values) {
                match (value.ms, &value.cell) {
                    (MARK_MS, Cell::Text(text)) => found.mark = Some(read_mark(table, text)?),
                    (FENCE_MS, Cell::Text(text)) => found.fence = text.parse().map_err(|_| not_ours(table))?,
                    _ => return Err(not_ours(table)),
                }
            }
            Ok(found)
        })
        .await?;
    Ok(found)
}

fn read_mark(table: &Name, text: &str) -> Result<Marker, Error> {
    let mark = serde_json::from_str(text).ok().and_then(MarkerDocument::<marker::Nothing>::if_ours);
    mark.map(|mark| mark.marker).ok_or_else(|| not_ours(table))
}

fn not_ours(table: &Name) -> Error {
    Error::new(Cause::NotOurs, format!("the metric {} is none of iotbench's: choose another table name", marker(table)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_mark_of_ours_is_read_as_one() {
        let table = Name::new("t").unwrap();
        let ours = r#"{"created_by":"iotbench 0.1.0","run_id":"r","fingerprint":"f"}"#;
        assert_eq!(read_mark(&table, ours).unwrap().run_id, "r");
        for theirs in ["", "7", "{}", r#"{"created_by":"somebody","run_id":"r","fingerprint":"f"}"#] {
            assert_eq!(read_mark(&table, theirs).unwrap_err().cause, Cause::NotOurs, "{theirs}");
        }
    }
}
