//! What a supervisor is ordered to do, and how it is seen that it has succeeded. Pure.

use crate::{
    launch::StartError,
    log,
    order::{Marker, Order, ProcessOrder, Surroundings, VERSION},
    password::Password,
    ready::Probe,
    setting::ServerSettings,
    template::{PASSWORD, UnknownName, Values},
    topology::{Member, Topology},
};
use iotbench_core::{ConfigFile, Endpoint, Ready, StopBy};
use signal_hook::consts::{SIGINT, SIGTERM};
use std::{
    io,
    path::{Path, PathBuf},
    time::Duration,
};

/// What is known before a server is started.
pub(crate) struct PlanRequest<'a> {
    pub(crate) backend: &'a str,
    pub(crate) topology: &'a Topology,
    pub(crate) settings: &'a ServerSettings,
    /// Names that stand for the same in every command.
    pub(crate) programs: &'a Values,
    pub(crate) password: &'a Password,
    pub(crate) folder: &'a Path,
    pub(crate) log: &'a Path,
    pub(crate) fresh: bool,
    pub(crate) owner: Option<(u32, u32)>,
    pub(crate) prefix: &'a [String],
    pub(crate) grace: Duration,
}

/// A server as it is to be started.
pub(crate) struct ServerPlan {
    pub(crate) order: Order,
    /// Its processes, those of a role together, in the order of their start.
    pub(crate) stages: Vec<Vec<Planned>>,
    pub(crate) endpoints: Vec<Endpoint>,
}

/// A process as it is to be started.
#[derive(Clone)]
pub(crate) struct Planned {
    pub(crate) member: Member,
    pub(crate) log: PathBuf,
    /// The port that it serves when it is ready.
    pub(crate) port: Option<u16>,
    /// Whether it has to listen there before the processes are joined.
    pub(crate) is_awaited: bool,
    pub(crate) probe: Probe,
}

pub(crate) fn plan(request: &PlanRequest<'_>) -> Result<ServerPlan, StartError> {
    let PlanRequest { topology, folder, .. } = request;
    let run = folder.to_str().ok_or_else(|| StartError::Io {
        what: folder.display().to_string(),
        source: io::Error::other("the path is not UTF-8"),
    })?;
    let mut all = topology.values(request.programs);
    all.set("run", run);
    let (mut orders, mut stages) = (Vec::new(), Vec::new());
    for members in topology.stages() {
        let planned = members.iter().map(|member| process(request, member, &all, run));
        let (of_stage, planned) = planned.collect::<Result<Vec<_>, _>>()?.into_iter().unzip();
        orders.push(of_stage);
        stages.push(planned);
    }
    let join = topology.recipe.join.iter().map(|templates| all.fill_all(templates, &[]));
    let marker = Marker {
        backend: request.backend.into(),
        nodes: topology.nodes,
        ports: topology.ports.clone(),
        password: Some(request.password.clone()),
    };
    let order = Order {
        version: VERSION.into(),
        marker,
        folder: folder.to_path_buf(),
        fresh: request.fresh,
        owner: request.owner,
        prefix: request.prefix.to_vec(),
        stages: orders,
        join: join.collect::<Result<_, _>>()?,
        join_in: Surroundings {
            folder: folder.to_path_buf(),
            environment: basic_environment(run),
            log: None,
            of: " (joining the nodes)".into(),
        },
        grace_ms: u64::try_from(request.grace.as_millis()).unwrap_or(u64::MAX),
    };
    Ok(ServerPlan { order, stages, endpoints: topology.endpoints(request.programs, request.password)? })
}

fn process(
    request: &PlanRequest<'_>,
    member: &Member,
    all: &Values,
    whole: &str,
) -> Result<(ProcessOrder, Planned), UnknownName> {
    let &PlanRequest { topology, settings, log, .. } = request;
    let role = member.role;
    let run = if member.alone { whole.to_owned() } else { format!("{whole}/{}", member.name()) };
    let own_log = (!member.alone).then(|| log::of_member(log, &member.name()));
    let mut values = topology.values_of(member, all);
    values.set("run", &run);
    values.set("data", format!("{run}/data"));

    // Files and variables are the server's alone; of a command every user of the machine sees the arguments.
    let mut secret_values = values.clone();
    secret_values.set(PASSWORD, request.password.expose());

    // A role takes the user's settings as arguments, as variables, or as lines of a file.
    let settings = settings.filled(role)?;
    let mut environment = basic_environment(&run);
    for variable in secret_values.fill_all(role.environment, &settings)? {
        let (name, value) = variable.split_once('=').unwrap_or((&variable, ""));
        environment.push((name.into(), value.into()));
    }
    let file =
        |file: &ConfigFile| Ok((Path::new(&run).join(file.path), secret_values.fill_lines(file.text, &settings)?));
    let init = role.init.iter().map(|templates| values.fill_all(templates, &[]));
    let order = ProcessOrder {
        surroundings: Surroundings {
            folder: run.clone().into(),
            environment,
            log: own_log.clone(),
            of: member.to_string(),
        },
        files: role.files.iter().map(file).collect::<Result<_, _>>()?,
        init: init.collect::<Result<_, _>>()?,
        start: values.fill_all(role.start, &settings)?,
        stop_signal: match role.stop {
            StopBy::Terminate => SIGTERM,
            StopBy::Interrupt => SIGINT,
        },
    };
    let probe = match role.ready {
        Ready::Command(templates) => Probe::Command(values.fill_all(templates, &[])?),
        Ready::Http { port, path } => {
            Probe::Http { host: member.host(), port: topology.port(role, port).unwrap_or_default(), path: path.into() }
        }
        Ready::Listens | Ready::Joined => Probe::None,
    };
    let port = role.ports.first().and_then(|first| topology.port(role, first));
    let log = own_log.unwrap_or_else(|| log.to_path_buf());
    let is_awaited = !matches!(role.ready, Ready::Joined);
    Ok((order, Planned { member: *member, log, port, is_awaited, probe }))
}

fn basic_environment(run: &str) -> Vec<(String, String)> {
    let pairs = [
        ("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"),
        ("LC_ALL", "C"),
        ("HOME", run),
        // A server may clear temporary files away that another one has in a folder that they share.
        ("TMPDIR", run),
    ];
    pairs.map(|(name, value)| (name.into(), value.into())).into()
}
