//! Which processes a server of so many nodes consists of, and where each is reached. Pure.

use crate::{
    password::Password,
    ports,
    template::{PASSWORD, UnknownName, Values},
};
use iotbench_core::{CLUSTER, Endpoint, Recipe, Role};
use std::{fmt, net::Ipv4Addr};

/// A recipe on so many nodes, with its ports chosen.
#[derive(Clone, Debug)]
pub(crate) struct Topology {
    pub(crate) recipe: &'static Recipe,
    pub(crate) nodes: u32,
    /// The ports of all roles, in their order.
    pub(crate) ports: Vec<u16>,
    /// Where other machines reach its one node; `None`: its nodes are reached from this machine alone.
    pub(crate) listen: Option<Ipv4Addr>,
}

/// One process of a server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    pub(crate) role: &'static Role,
    pub(crate) node: u32,
    /// Whether it is the only one.
    pub(crate) alone: bool,
    host: Ipv4Addr,
}

impl Member {
    /// `ROLE-NODE`: the name of its folder and the end of its log's.
    pub(crate) fn name(&self) -> String {
        format!("{}-{}", self.role.name, self.node)
    }

    /// Its node's address.
    pub(crate) fn host(&self) -> Ipv4Addr {
        self.host
    }
}

/// Which one it is, for people: nothing where there is no other.
impl fmt::Display for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.alone { Ok(()) } else { write!(f, " ({}, node {})", self.role.name, self.node) }
    }
}

/// The address of a node: each has its own, as on machines of their own.
fn host(node: u32) -> Ipv4Addr {
    Ipv4Addr::new(127, 0, 0, u8::try_from(node + 1).unwrap_or(u8::MAX))
}

/// The addresses of so many nodes.
pub(crate) fn hosts(nodes: u32) -> Vec<Ipv4Addr> {
    (0..nodes).map(host).collect()
}

/// How many ports the roles of a recipe have together.
pub(crate) fn count_ports(recipe: &Recipe) -> usize {
    recipe.roles.iter().map(|role| role.ports.len()).sum()
}

/// The addresses that clients of a server will have, for planning: its ports are 1, 2, ….
///
/// # Errors
/// The recipe is wrong.
pub fn planned_endpoints(recipe: &'static Recipe, nodes: u32) -> Result<Vec<Endpoint>, UnknownName> {
    let ports = (1..).take(count_ports(recipe)).collect();
    Topology { recipe, nodes, ports, listen: None }.endpoints(&Values::default(), &Password::planned())
}

impl Topology {
    fn host(&self, node: u32) -> Ipv4Addr {
        self.listen.unwrap_or_else(|| host(node))
    }

    /// Its processes, in the order of their start.
    pub(crate) fn members(&self) -> Vec<Member> {
        self.stages().concat()
    }

    /// Its processes, those of one role together.
    pub(crate) fn stages(&self) -> Vec<Vec<Member>> {
        let of_role = |role: &'static Role| {
            let member = |node| Member { role, node, alone: false, host: self.host(node) };
            role.on.of(self.nodes).map(member).collect::<Vec<_>>()
        };
        let mut stages: Vec<_> = self.recipe.roles.iter().map(of_role).collect();
        if let [one] = &mut stages.iter_mut().flatten().collect::<Vec<_>>()[..] {
            one.alone = true;
        }
        stages
    }

    /// A role's ports, by name.
    fn ports_of(&self, role: &Role) -> impl Iterator<Item = (&'static str, u16)> {
        let before = self.recipe.roles.iter().take_while(|other| other.name != role.name);
        let first = before.map(|other| other.ports.len()).sum();
        role.ports.iter().copied().zip(self.ports.iter().copied().skip(first))
    }

    /// One of a role's ports.
    pub(crate) fn port(&self, role: &Role, name: &str) -> Option<u16> {
        self.ports_of(role).find(|&(known, _)| known == name).map(|(_, port)| port)
    }

    /// What the names stand for in every command.
    pub(crate) fn values(&self, programs: &Values) -> Values {
        let mut values = programs.clone();
        values.set("nodes", self.nodes);
        if self.nodes > 1 {
            values.set("cluster", CLUSTER);
        } else {
            values.leave_out("cluster");
        }
        values.set("hosts", joined((0..self.nodes).map(|node| self.host(node))));
        // Only a server that other machines reach lets their users in.
        let (is, is_not) = if self.listen.is_some() { ("open", "closed") } else { ("closed", "open") };
        values.set(is, "");
        values.leave_out(is_not);
        for role in self.recipe.roles {
            let on = || role.on.of(self.nodes).map(|node| self.host(node));
            for (name, port) in self.ports_of(role) {
                let path = format!("{}.{name}", role.name);
                values.set(&path, port);
                if let Some(first) = on().next() {
                    values.set(&format!("{path}.first"), format_args!("{first}:{port}"));
                }
                values.set(&format!("{path}.all"), joined(on().map(|host| format!("{host}:{port}"))));
            }
        }
        values
    }

    /// What the names stand for in a process's own commands, beside its folders.
    pub(crate) fn values_of(&self, member: &Member, all: &Values) -> Values {
        let mut values = all.clone();
        values.set("host", member.host());
        values.set("node", member.node);
        for (name, port) in self.ports_of(member.role) {
            values.set(name, port);
        }
        values
    }

    /// The addresses of all processes that clients reach.
    pub(crate) fn endpoints(&self, programs: &Values, password: &Password) -> Result<Vec<Endpoint>, UnknownName> {
        let mut all = self.values(programs);
        all.set(PASSWORD, password.expose());
        let mut endpoints = Vec::new();
        for member in self.members() {
            let Some(template) = member.role.url else { continue };
            let url = self.values_of(&member, &all).fill(template)?;
            endpoints.push(Endpoint::new(url.parse().map_err(|_| UnknownName::no_url(template))?));
        }
        Ok(endpoints)
    }
}

fn joined<T: ToString>(parts: impl IntoIterator<Item = T>) -> String {
    parts.into_iter().map(|part| part.to_string()).collect::<Vec<_>>().join(",")
}

/// The recipe on free ports: the same on every node, `wanted` ones first.
pub(crate) fn choose(
    recipe: &'static Recipe,
    nodes: u32,
    wanted: &[u16],
    listen: Option<Ipv4Addr>,
) -> std::io::Result<Topology> {
    let hosts = listen.map_or_else(|| hosts(nodes), |listen| vec![listen]);
    let ports = ports::choose(count_ports(recipe), &hosts, wanted)?;
    Ok(Topology { recipe, nodes, ports, listen })
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::{On, Ready, StopBy};

    const fn role(name: &'static str, on: On, ports: &'static [&'static str], url: Option<&'static str>) -> Role {
        Role {
            name,
            on,
            ports,
            open_ports: &[],
            files: &[],
            init: &[],
            environment: &[],
            start: &[],
            setting: &[],
            reserved: &[],
            ready: Ready::Command(&[]),
            ready_within_s: 1,
            stop: StopBy::Terminate,
            url,
        }
    }

    static RECIPE: Recipe = Recipe {
        programs: &[],
        jars: &[],
        version: &[],
        user: "nobody",
        tuning: &[],
        nodes: &[1, 3],
        roles: &[
            role("store", On::EveryNode, &["cql", "gossip"], None),
            role("front", On::FirstNode, &["http"], Some("http://{host}:{http}/?stores={store.cql.all}")),
        ],
        join: &[],
    };

    fn three() -> Topology {
        Topology { recipe: &RECIPE, nodes: 3, ports: vec![9042, 7000, 8080], listen: None }
    }

    #[test]
    fn roles_come_in_their_order_on_their_nodes() {
        let names: Vec<_> = three().members().iter().map(Member::name).collect();
        assert_eq!(names, ["store-0", "store-1", "store-2", "front-0"]);
        assert_eq!(three().members()[1].to_string(), " (store, node 1)");
        assert_eq!(three().stages().iter().map(Vec::len).collect::<Vec<_>>(), [3, 1]);
    }

    #[test]
    fn names_stand_for_what_the_recipe_says() {
        let all = three().values(&Values::default());
        let values = three().values_of(&three().members()[2], &all);
        for (template, filled) in [
            ("{host} {node} of {nodes}", "127.0.0.3 2 of 3"),
            ("{cql} {gossip}", "9042 7000"),
            ("{front.http} {front.http.first}", "8080 127.0.0.1:8080"),
            ("{store.gossip.all}", "127.0.0.1:7000,127.0.0.2:7000,127.0.0.3:7000"),
            ("{hosts}", "127.0.0.1,127.0.0.2,127.0.0.3"),
            ("{cluster}", "iotbench"),
        ] {
            assert_eq!(values.fill(template).unwrap(), filled);
        }
        assert!(values.fill("{http}").is_err(), "another role's port has that role's name before it");
        assert!(values.fill("{password}").is_err(), "every user sees the arguments of a command");
    }

    #[test]
    fn one_that_other_machines_reach_has_an_address_of_theirs_and_lets_them_in() {
        let one = Topology { nodes: 1, listen: Some(Ipv4Addr::new(10, 0, 0, 5)), ..three() };
        let filled = |topology: &Topology| {
            let values = topology.values_of(&topology.members()[0], &topology.values(&Values::default()));
            values
                .fill_all(
                    &["{open}--users=all", "{closed}--users=own", "--bind={host}", "--seeds={store.gossip.all}"],
                    &[],
                )
                .unwrap()
        };
        assert_eq!(filled(&one), ["--users=all", "--bind=10.0.0.5", "--seeds=10.0.0.5:7000"]);
        assert_eq!(one.members()[0].host(), Ipv4Addr::new(10, 0, 0, 5));
        let here = Topology { nodes: 1, ..three() };
        assert_eq!(filled(&here), ["--users=own", "--bind=127.0.0.1", "--seeds=127.0.0.1:7000"]);
    }

    #[test]
    fn clients_get_the_addresses_that_are_for_them() {
        let planned = planned_endpoints(&RECIPE, 1).unwrap();
        assert_eq!(planned.len(), 1);
        assert_eq!(planned[0].expose().as_str(), "http://127.0.0.1:3/?stores=127.0.0.1:1");
    }
}
