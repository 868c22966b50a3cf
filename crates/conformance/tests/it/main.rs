//! The suite finds each fault that it claims to find.

mod faults;
