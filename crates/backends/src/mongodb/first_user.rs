//! Makes the user of a private server's address: the first, for whom no user is needed from the server's own machine.

use super::{
    error::classify,
    ownership::run,
    replica_set::{options, without_user},
};
use iotbench_core::{Cause, Error, Target};
use mongodb::{
    Client,
    bson::{Document, doc},
    options::{ClientOptions, ServerAddress},
};

/// Makes it, where the address names one and the server has none yet.
pub(crate) async fn create(target: &Target) -> Result<(), Error> {
    let options = options(target)?;
    let Some(credential) = &options.credential else { return Ok(()) };
    let (Some(user), Some(password)) = (&credential.username, &credential.password) else { return Ok(()) };
    let command = doc! { "createUser": user, "pwd": password, "roles": ["root"] };
    let unnamed = without_user(&options);
    let mut made = admin(unnamed.clone(), command.clone()).await;
    if made.as_ref().is_err_and(|error| error.cause == Cause::Auth) {
        // One that other machines reach sees a stranger in who comes by the address that they have.
        made = admin(by_loopback(unnamed), command).await;
    }
    match made {
        // On a folder that was kept it has its user, and lets nobody in who is none.
        Err(error) if error.cause == Cause::Auth => admin(options, doc! { "ping": 1 }).await,
        ended => ended,
    }
}

async fn admin(options: ClientOptions, command: Document) -> Result<(), Error> {
    let client = Client::with_options(options).map_err(|e| classify(&e))?;
    run(&client.database("admin"), command).await.map(drop)
}

fn by_loopback(mut options: ClientOptions) -> ClientOptions {
    for address in &mut options.hosts {
        if let ServerAddress::Tcp { host, .. } = address {
            *host = "127.0.0.1".into();
        }
    }
    options.direct_connection = Some(options.hosts.len() == 1);
    options
}
