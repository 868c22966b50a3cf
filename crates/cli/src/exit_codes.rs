//! The exit codes, as help has them.

pub(crate) const EXIT_CODES: &str = "\
Exit codes:
   0  valid                               20  no connection
   1  internal error                      21  authentication failed
   2  wrong arguments or configuration    22  TLS refused
  10  a search sustained no load at all,  23  name not resolved
      or doctor warns of this machine     24  server died or is full
  11  result invalid (client-limited,     30  results or files cannot be written
      overloaded, lost samples)           31  not ours, or in use by another
  12  data lost, duplicated or corrupt    129, 130, 143  interrupted, results saved
  13  regression found
Of several runs the gravest decides: 1, 2, 143, 130, 129, 31, 30, 21, 22, 23, 20, 24, 12, 11, 13, 10.";

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_engine::SEVERITY;

    #[test]
    fn the_order_of_exit_codes_in_help_is_the_real_one() {
        let order = SEVERITY.map(|code| code.to_string()).join(", ");
        assert!(EXIT_CODES.contains(&order), "{order}");
    }
}
