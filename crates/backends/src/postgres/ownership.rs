//! Creates and drops our tables, and nothing that is not ours.

use super::{
    citus,
    config::Division,
    devices,
    error::classify,
    layout::Table,
    lease,
    quoting::{literal, qualified, quoted},
};
use iotbench_backend_kit::{
    marker::{BEGINNING, comment, of_comment},
    ownership::{Found, Owned, Ownership},
};
use iotbench_core::{Cause, Error, Marker, Name, OwnedObject};
use sqlx::{Executor, PgConnection};

/// The tables of ours in a schema. What is changed is changed in one transaction, which ends with the connection where it
/// was not made to last.
pub(crate) struct Tables<'a> {
    pub(crate) connection: PgConnection,
    pub(crate) table: &'a Table,
    /// Whether this run holds its table's lock: then nobody else does.
    pub(crate) is_leased: bool,
}

impl Tables<'_> {
    async fn run(&mut self, statement: &str) -> Result<(), Error> {
        self.connection.execute(statement).await.map(|_| ()).map_err(|e| classify(&e))
    }
}

impl Ownership for Tables<'_> {
    type Handle = ();

    fn own(&self) -> (&Name, &Marker) {
        (&self.table.spec.name, &self.table.spec.marker)
    }

    async fn begin(&mut self) -> Result<(), Error> {
        self.run("BEGIN").await?;
        if self.table.division == Division::Shards {
            self.run(citus::ONE_BY_ONE).await?;
        }
        Ok(())
    }

    /// What stands there without our marker is found by what is to be made in its place.
    async fn find(&mut self, name: &Name) -> Result<Found, Error> {
        let marker = marker_of(&mut self.connection, &self.table.schema_name, name.as_str()).await?;
        Ok(marker.map_or(Found::Nothing, |marker| Found::Ours(Owned { marker, exists: true, handle: () })))
    }

    async fn hold(&mut self, name: &Name) -> Result<bool, Error> {
        if !(self.is_leased && *name == self.table.spec.name) {
            lease::for_the_transaction(&mut self.connection, self.table, name).await?;
        }
        let name = qualified(&self.table.schema_name, name.as_str());
        self.run(&format!("LOCK TABLE {name} IN ACCESS EXCLUSIVE MODE")).await.map(|()| true)
    }

    async fn make(&mut self, earlier: Option<Owned>) -> Result<(), Error> {
        let table = self.table;
        if let Some(earlier) = earlier {
            self.remove(&table.spec.name, earlier).await?;
        }
        // One that is left of a table that somebody dropped.
        devices::drop(&mut self.connection, &table.schema_name, &table.spec.name).await?;
        refuse_foreign(&mut self.connection, table).await?;
        for statement in &table.create_sql() {
            self.run(statement).await?;
        }
        devices::create(&mut self.connection, table).await?;
        self.mark().await
    }

    async fn take_over(&mut self, _: Owned) -> Result<bool, Error> {
        let Table { schema_name, spec, .. } = self.table;
        if self.table.has_devices() && !devices::is_there(&mut self.connection, schema_name, &spec.name).await? {
            return Ok(false);
        }
        self.mark().await.map(|()| true)
    }

    /// Never cascades: a view of somebody else's on it is an error.
    async fn remove(&mut self, name: &Name, _: Owned) -> Result<(), Error> {
        devices::drop(&mut self.connection, &self.table.schema_name, name).await?;
        self.run(&format!("DROP TABLE {}", qualified(&self.table.schema_name, name.as_str()))).await
    }

    async fn commit(&mut self) -> Result<(), Error> {
        self.run("COMMIT").await
    }

    async fn list(&mut self) -> Result<Vec<OwnedObject>, Error> {
        let sql = "SELECT c.relname::text, obj_description(c.oid, 'pg_class') FROM pg_class c \
                   JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relkind IN ('r', 'p') \
                   AND starts_with(obj_description(c.oid, 'pg_class'), $2)";
        let query = sqlx::query_as(sql).bind(&self.table.schema_name).bind(BEGINNING);
        let found: Vec<(String, String)> = query.fetch_all(&mut self.connection).await.map_err(|e| classify(&e))?;
        let object = |(name, comment): (String, String)| {
            Some(OwnedObject { name: Name::new(&name).ok()?, run_id: of_comment(&comment)?.run_id })
        };
        Ok(found.into_iter().filter_map(object).collect())
    }
}

impl Tables<'_> {
    async fn mark(&mut self) -> Result<(), Error> {
        let comment = literal(&comment(&self.table.spec.marker));
        self.run(&format!("COMMENT ON TABLE {} IS {comment}", self.table.qualified)).await
    }
}

/// The marker of a table of this name, where it carries one.
async fn marker_of(connection: &mut PgConnection, schema: &str, name: &str) -> Result<Option<Marker>, Error> {
    let sql = "SELECT obj_description(c.oid, 'pg_class') FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
               WHERE n.nspname = $1 AND c.relname = $2 AND c.relkind IN ('r', 'p')";
    let comment: Option<Option<String>> =
        sqlx::query_scalar(sql).bind(schema).bind(name).fetch_optional(connection).await.map_err(|e| classify(&e))?;
    Ok(comment.flatten().and_then(|comment| of_comment(&comment)))
}

/// An error where a relation or a type has a name that we are about to use: ours is gone by now.
async fn refuse_foreign(connection: &mut PgConnection, table: &Table) -> Result<(), Error> {
    let sql = "SELECT CASE c.relkind WHEN 'r' THEN 'table' WHEN 'p' THEN 'table' WHEN 'v' THEN 'view' \
                      WHEN 'm' THEN 'view' WHEN 'i' THEN 'index' WHEN 'S' THEN 'sequence' ELSE 'relation' END \
                      || ' ' || c.relname::text \
               FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
               WHERE n.nspname = $1 AND c.relname = ANY($3) \
               UNION ALL \
               SELECT 'type ' || t.typname::text FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace \
               WHERE n.nspname = $1 AND t.typname = ANY($2) AND t.typrelid = 0 LIMIT 1";
    // A table is a type of its name as well.
    let devices = table.has_devices().then(|| iotbench_backend_kit::devices::name(&table.spec.name));
    let tables: Vec<_> = [table.spec.name.to_string()].into_iter().chain(devices).collect();
    let relations: Vec<_> = tables.iter().cloned().chain([table.index_name()]).chain(table.partition_names()).collect();
    let found: Option<String> = sqlx::query_scalar(sql)
        .bind(&table.schema_name)
        .bind(&tables)
        .bind(&relations)
        .fetch_optional(connection)
        .await
        .map_err(|e| classify(&e))?;
    match found {
        Some(object) => {
            let schema = quoted(&table.schema_name);
            let message = format!(
                "{object} in schema {schema} exists and does not carry our marker: choose another table name, schema \
                 or database"
            );
            Err(Error::new(Cause::NotOurs, message))
        }
        None => Ok(()),
    }
}
