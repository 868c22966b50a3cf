//! iotbench as a library.
