//! What is sampled agrees with the processes that were measured.

mod cgroup_and_host;
mod cpu_truth;
mod own_cost;
mod process_tree;
mod tree_account;
