//! A private server that an agent starts for somebody, and stops when nobody wants it any more.

use crate::{lease::Lease, message::Served};
use iotbench_core::{Backend, Endpoint, Settings, Target};
use iotbench_launcher::{Launch, PrivateLog, PrivateServer, ServerSettings, start};
use std::{
    net::Ipv4Addr,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread::JoinHandle,
};
use tokio::sync::oneshot;
use url::Url;

/// What is to be started.
pub(crate) struct ServerWish {
    pub(crate) backend: &'static dyn Backend,
    pub(crate) settings: Settings,
    pub(crate) memory_bytes: u64,
    /// Where other machines reach it.
    pub(crate) listen: Option<Ipv4Addr>,
}

impl ServerWish {
    /// Refuses settings that another machine has no business with.
    pub(crate) fn check(&self) -> Result<(), String> {
        let name = self.backend.info().name;
        let Some(recipe) = self.backend.recipe_for(&self.settings) else { return Ok(()) };
        let settings = ServerSettings::of_backend(&self.settings, recipe);
        let checked = settings.and_then(|settings| settings.only_tuning(recipe));
        checked.map_err(|e| format!("backend.{name}.{e}"))
    }
}

/// A server that runs, or is being started. Dropped, it is stopped and its folder removed, which takes its time.
pub(crate) struct Serving {
    pub(crate) hold: Lease,
    stop: Option<SyncSender<()>>,
    is_unwanted: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Serving {
    /// Starts a server on a thread of its own; `started` is told where it is, or why it is not. `hold` says who wants it.
    ///
    /// # Errors
    /// No thread can be started.
    pub(crate) fn begin(
        wish: ServerWish,
        hold: Lease,
        started: oneshot::Sender<Result<Served, String>>,
    ) -> std::io::Result<Self> {
        let (stop, stopped) = sync_channel(1);
        let is_unwanted = Arc::new(AtomicBool::new(false));
        let unwanted = Arc::clone(&is_unwanted);
        let thread = std::thread::Builder::new().name("server".into());
        let thread = thread.spawn(move || serve(&wish, &unwanted, started, &stopped))?;
        Ok(Self { hold, stop: Some(stop), is_unwanted, thread: Some(thread) })
    }

    /// Has it stopped; the thread ends when it is.
    pub(crate) fn stop(mut self) -> Option<JoinHandle<()>> {
        self.is_unwanted.store(true, Ordering::Relaxed);
        self.stop = None;
        self.thread.take()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.is_unwanted.store(true, Ordering::Relaxed);
        self.stop = None;
        // A thread that panicked has stopped the server by dropping it.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn serve(
    wish: &ServerWish,
    is_unwanted: &AtomicBool,
    started: oneshot::Sender<Result<Served, String>>,
    stopped: &Receiver<()>,
) {
    let log = match PrivateLog::new() {
        Ok(log) => log,
        Err(error) => return drop(started.send(Err(format!("no folder for the server's log: {error}")))),
    };
    match begin(wish, is_unwanted, log.path()) {
        Ok(server) => {
            if started.send(Ok(served(&server, wish))).is_ok() {
                // Ends when its sender is dropped.
                let _ = stopped.recv();
            }
            // What cannot be removed `iotbench clean` removes.
            let _ = server.stop();
        }
        Err(why) => {
            // What is said names it.
            log.keep();
            drop(started.send(Err(why)));
        }
    }
}

fn begin(wish: &ServerWish, is_unwanted: &AtomicBool, log: PathBuf) -> Result<PrivateServer, String> {
    let ServerWish { backend, settings, memory_bytes, listen } = wish;
    let name = backend.info().name;
    let recipe = backend.recipe_for(settings).ok_or_else(|| format!("{name} is no server that iotbench starts"))?;
    let settings = ServerSettings::of_backend(settings, recipe).map_err(|e| format!("backend.{name}.{e}"))?;
    let launch = Launch::new(name, recipe, log).memory_bytes(*memory_bytes).settings(settings);
    let launch = match listen {
        Some(address) => launch.listening_at(*address),
        None => launch,
    };
    let server = start(&launch, &|| is_unwanted.load(Ordering::Relaxed)).map_err(|e| e.to_string())?;
    let endpoints = server.endpoints().iter().map(|endpoint| Endpoint::new(address(endpoint, wish))).collect();
    let target = Target { endpoints, nodes: server.nodes(), ..Target::default() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|e| e.to_string())?;
    runtime.block_on(backend.join(&target)).map_err(|e| format!("its processes could not be joined: {e}"))?;
    Ok(server)
}

fn served(server: &PrivateServer, wish: &ServerWish) -> Served {
    Served {
        endpoints: server.endpoints().iter().map(|endpoint| address(endpoint, wish)).collect(),
        pids: server.nodes().iter().filter_map(|node| i32::try_from(node.pid?).ok()).collect(),
    }
}

/// Clients encrypt what goes to other machines unless its address says otherwise, and a recipe has no certificates.
fn address(endpoint: &Endpoint, wish: &ServerWish) -> Url {
    let mut address = endpoint.expose().clone();
    if let (Some(_), Some((option, value))) = (wish.listen, wish.backend.info().plain_text) {
        address.query_pairs_mut().append_pair(option, value);
    }
    address
}
