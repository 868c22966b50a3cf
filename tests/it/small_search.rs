//! A search of three trials, which any machine carries.

/// Of 2, 4 and 4 users: the greatest load that may be tried is run again.
pub const SMALL_SEARCH: [&str; 12] = [
    "--trial",
    "3s",
    "--first",
    "2",
    "--most",
    "4",
    "--trials",
    "12",
    "--criterion",
    "mean<1s,errors<=5%",
    "--set",
    "others_cpu=100%",
];
