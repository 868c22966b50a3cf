//! A load of several agents, over a real NATS server.

mod capacity;
