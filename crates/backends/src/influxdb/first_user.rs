//! Makes the user of a private server's address: the first, for whom no user is needed.

use super::{client::Client, config::Config};
use iotbench_core::{Action, Cause, Endpoint, Error, Name, SettingError, Settings, Target};

/// Makes it, where the address names one and the server has none yet.
pub(super) async fn create(target: &Target) -> Result<(), Error> {
    let Some(server) = target.endpoints.first() else { return Ok(()) };
    let url = server.expose();
    let Some(password) = url.password() else { return Ok(()) };
    let statement = format!("CREATE USER \"{}\" WITH PASSWORD '{password}' WITH ALL PRIVILEGES", url.username());
    let mut asked = ask(server, "http", &statement).await;
    if asked.as_ref().is_err_and(|error| error.cause != Cause::Auth) {
        // Its settings may have it encrypt.
        asked = ask(server, "https", &statement).await;
    }
    match asked {
        // On a folder that was kept it has its user, and lets nobody in who is none.
        Err(error) if error.cause == Cause::Auth => Ok(()),
        ended => ended,
    }
}

/// Without user and password, and whatever certificate the server has: it was just started by us.
async fn ask(server: &Endpoint, scheme: &str, statement: &str) -> Result<(), Error> {
    let refused = |e: SettingError| Error::new(Cause::Client, e).action(Action::Stop);
    let url = server.expose();
    let (host, port) = (url.host_str().unwrap_or_default(), url.port().unwrap_or_default());
    let endpoint = format!("{scheme}://{host}:{port}/").parse().map_err(|e| Error::new(Cause::Client, e))?;
    let target = Target { endpoints: vec![endpoint], insecure: true, ..Target::default() };
    let config = Config::new(&Settings::default(), &target, |_| None).map_err(refused)?;
    // It need not exist: the statement is about none.
    let database = Name::new("iotbench").map_err(|e| Error::new(Cause::Client, e))?;
    Client::connect(&config.server, &database).await?.ask(statement, |_| Ok(())).await?;
    Ok(())
}
