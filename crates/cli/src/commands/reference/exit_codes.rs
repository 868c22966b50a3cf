//! The page of exit codes.

use super::markdown;
use crate::exit_codes::EXIT_CODES;

pub(super) fn page() -> String {
    markdown::page("Exit codes", &["As `iotbench --help` prints them.".to_owned(), markdown::block(EXIT_CODES)])
}
