//! The iotbench command line.
fn main() {}
