//! What a user says to a server by its own client program.

use std::process::Command;
use url::Url;

/// Says it as who the address names, or as whoever may do anything, and returns what was printed.
pub fn say(backend: &str, address: &Url, words: &str) -> String {
    let port = address.port().unwrap().to_string();
    let mut command = match backend {
        "postgres" => {
            let mut psql = Command::new("psql");
            psql.args(["-X", "-q", "-A", "-t", address.as_str(), "-c", words]);
            psql
        }
        "mariadb" => {
            let mut mariadb = Command::new("mariadb");
            mariadb.args(["--no-defaults", "--protocol=tcp", "-h127.0.0.1", "-uroot", "-P", &port, "-e", words]);
            mariadb
        }
        _ => {
            let database = address.query_pairs().find(|(key, _)| key == "db").map(|(_, name)| name.into_owned());
            let mut influx = Command::new("influx");
            influx.args(["-host", "127.0.0.1", "-port", &port, "-database", &database.unwrap_or("iotbench".into())]);
            if let Some(password) = address.password() {
                influx.args(["-username", address.username(), "-password", password]);
            }
            influx.args(["-execute", words]);
            influx
        }
    };
    let output = command.output().unwrap();
    assert!(output.status.success(), "{backend}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
