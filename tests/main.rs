//! The integration tests: one crate, one module a part of the flow.

mod check;
mod compile;
mod exchange;
mod mutants;
mod page;
mod run;
mod tidy;

/// How many of `all` random histories a test makes: a tenth; three twentieths where the environment
/// has `INTERLAP_HISTORIES=more`, as for a change of the checkers (`.ci/run`); all of them where it
/// has `all` (`make test-long`).
fn how_many(all: usize) -> usize {
    match std::env::var("INTERLAP_HISTORIES").as_deref() {
        Ok("all") => all,
        Ok("more") => (3 * all).div_ceil(20),
        _ => all.div_ceil(10),
    }
}
