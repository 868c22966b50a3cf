//! Every layout behaves as it should on both engines, on MySQL, and with both ways to commit.

use crate::mariadb::server::{Place, named, none, settings_of};
use iotbench_conformance::{Fixture, assert_conforms, check};
use iotbench_core::{Backend, Endpoint, Layout, OpenRequest, TableSpec, Target};
use serde_json::{Value, json};

struct Subject {
    backend: &'static str,
    place: Place,
    settings: Value,
}

#[async_trait::async_trait]
impl Fixture for Subject {
    fn backend(&self) -> &'static dyn Backend {
        named(self.backend)
    }

    fn request(&self, table: TableSpec) -> OpenRequest {
        let target = Target { endpoints: vec![Endpoint::new(self.place.url.clone())], ..Target::default() };
        OpenRequest { target, settings: settings_of(self.settings.clone()), table }
    }

    async fn plant_foreign(&self, table: &TableSpec) -> bool {
        let name = format!("`{}`.`{}`", self.place.database, table.name);
        self.place.execute(&format!("CREATE TABLE {name} (a TEXT) COMMENT='mine'")).await;
        self.place.execute(&format!("INSERT INTO {name} VALUES ('planted')")).await;
        true
    }

    async fn contents(&self) -> Option<Vec<String>> {
        let database = &self.place.database;
        let tables = "SELECT table_name, table_type, engine, table_comment FROM information_schema.tables";
        let mut contents = self.place.rows(&format!("{tables} WHERE table_schema = '{database}'")).await;
        for table in contents.clone() {
            let name = table.split('|').next().unwrap();
            contents.extend(self.place.rows(&format!("SELECT * FROM `{database}`.`{name}`")).await);
        }
        Some(contents)
    }
}

async fn conforms(test: &str, layout: Layout, settings: Value) {
    let backend = if test.starts_with("mysql") { "mysql" } else { "mariadb" };
    let Some(place) = Place::on(backend, &format!("{test}_{layout}")).await else { return };
    let subject = Subject { backend, place, settings };
    let outcomes = check(&subject, layout).await;
    assert_conforms(&outcomes);
    subject.place.drop().await;
}

macro_rules! conformance {
    ($($name:ident: $layout:ident, $settings:expr;)*) => {
        $(#[tokio::test]
        async fn $name() {
            conforms(stringify!($name), Layout::$layout, $settings).await;
        })*
    };
}

conformance! {
    innodb_in_partitions_wide: Wide, json!({"partitions": 3});
    innodb_in_partitions_narrow: Narrow, json!({"partitions": 3});
    myrocks_in_partitions_bulk: Bulk, json!({"engine": "myrocks", "partitions": 3});
    innodb_wide: Wide, none();
    innodb_narrow: Narrow, none();
    innodb_document: Document, none();
    innodb_bulk: Bulk, none();
    myrocks_wide: Wide, json!({"engine": "myrocks"});
    myrocks_narrow: Narrow, json!({"engine": "myrocks"});
    myrocks_document: Document, json!({"engine": "myrocks"});
    myrocks_bulk: Bulk, json!({"engine": "myrocks"});
    datapoint_wide: Wide, json!({"commit": "datapoint"});
    datapoint_narrow: Narrow, json!({"commit": "datapoint"});
    datapoint_bulk: Bulk, json!({"commit": "datapoint"});
    small_statements_wide: Wide, json!({"statement_rows": 7});
    small_statements_narrow: Narrow, json!({"statement_rows": 7});
    no_index_wide: Wide, json!({"indexes": "none"});
    mysql_wide: Wide, none();
    mysql_narrow: Narrow, none();
    mysql_document: Document, none();
    mysql_bulk: Bulk, none();
    mysql_in_partitions_narrow: Narrow, json!({"partitions": 3});
    mysql_datapoint_document: Document, json!({"commit": "datapoint"});
    mysql_no_index_document: Document, json!({"indexes": "none"});
    no_index_bulk: Bulk, json!({"indexes": "none"});
}
