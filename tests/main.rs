//! The integration tests: one crate, one module a part of the flow.

mod check;
mod compile;
mod exchange;
mod mutants;
mod page;
mod run;
mod tidy;

/// How many of `all` random histories a test makes: a tenth, or all of them where the environment
/// has `INTERLAP_HISTORIES=all`, as for a change of the checkers (`.ci/run`, `make test-long`).
fn how_many(all: usize) -> usize {
    let has_all = std::env::var("INTERLAP_HISTORIES").is_ok_and(|number| number == "all");
    if has_all { all } else { all.div_ceil(10) }
}
