//! The engine's executions against the axioms, on random programs and on litmus tests.

use interlap::core::random::Random;

use super::super::HappensBefore;
use super::litmus::{Verdict, shapes};
use super::program::Program;

/// Each execution is one that the axioms allow.
#[test]
fn random_programs_run_as_they_may() {
    let (mut random, mut order) = (Random::new(27), HappensBefore::new(|_, _| false));
    let mut weak = 0;
    for _ in 0..4_000 {
        let program = Program::random(&mut random, 3, 6, 3);
        for _ in 0..5 {
            let graph = program.run(&mut order, &mut random);
            assert!(graph.is_rc11() && graph.can_be_made(), "{program:#?}\n{graph:#?}");
            weak += u32::from(!graph.is_as_made());
        }
    }
    assert!(weak > 5_000, "{weak} executions that are not sequentially consistent");
}

/// And all outcomes of small programs are reached.
#[test]
fn all_outcomes_of_small_programs_are_reached() {
    let (mut random, mut order) = (Random::new(28), HappensBefore::new(|_, _| false));
    let mut only_rc11 = 0;
    for number in 0..300 {
        let program = Program::random(&mut random, 2 + number % 2, 3, 2);
        let wanted = program.outcomes(|graph| graph.can_be_made());
        let rc11 = program.outcomes(|graph| graph.is_rc11());
        assert!(wanted.is_subset(&rc11));
        only_rc11 += rc11.len() - wanted.len();
        let mut missing = wanted.clone();
        for _ in 0..200_000 {
            if missing.is_empty() {
                break;
            }
            let outcome = program.run(&mut order, &mut random).outcome(&program);
            assert!(wanted.contains(&outcome), "{program:#?}: {outcome:?}");
            missing.remove(&outcome);
        }
        assert!(missing.is_empty(), "{program:#?}: {missing:?}");
    }
    eprintln!("{only_rc11} outcomes need another order");
}

#[test]
fn litmus_tests_show_what_is_allowed_and_nothing_else() {
    let (mut random, mut order) = (Random::new(29), HappensBefore::new(|_, _| false));
    let mut count = 0;
    for shape in shapes() {
        let program = &shape.program;
        let mut shows =
            |_| shape.is_shown_by(&program.run(&mut order, &mut random).outcome(program));
        let most = if shape.verdict == Verdict::Allowed { 100_000 } else { 20_000 };
        let is_shown = (0..most).any(&mut shows);
        assert_eq!(is_shown, shape.verdict == Verdict::Allowed, "{}", shape.name);
        let outcomes = shape.program.outcomes(|graph| graph.can_be_made());
        assert_eq!(outcomes.iter().any(|of| shape.is_shown_by(of)), is_shown, "{}", shape.name);
        if shape.verdict != Verdict::Forbidden {
            let outcomes = shape.program.outcomes(|graph| graph.is_rc11());
            assert!(outcomes.iter().any(|of| shape.is_shown_by(of)), "{}", shape.name);
        }
        count += 1;
    }
    assert!(count >= 100, "{count} shapes");
}
