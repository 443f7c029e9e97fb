//! What holds for every policy: it answers with a thread that can run, whatever it is asked; the
//! same seed gives the same schedule, today and tomorrow; threads that spin do not keep the others
//! from running; a list gives again what any other policy did.

use super::simulator::Program;
use super::*;

/// Threads of a small lock-free structure: reads, then a write, of a few addresses.
fn queue() -> Program {
    Program::new(&["xyX;xyX;xY", "xpyX;yxY", "yxXq;ypY;x", "zZxX"])
}

/// Those of the rotation, and a list.
fn all() -> Vec<Spec> {
    let switches = (0..200).map(|n| Switch { step: n * 7, thread: n as usize % THREADS_MAX });
    let list = Spec::List(switches.collect());
    let turns = (0..200).map(|n| {
        let place = Place { call: n / 4, steps: n % 4, again: n % 2 };
        Turn { thread: n as usize % 5, place, gives_way: n % 3 == 0, to: n as usize * 7 % 6 }
    });
    let turns = Spec::Turns(turns.collect());
    Spec::ROTATION.iter().cloned().chain([list, turns]).collect()
}

/// Anything an engine could ask, and much that none would.
struct Anything {
    random: Random,
    pending: [Pending; THREADS_MAX],
    current: usize,
    step: u64,
}

impl Anything {
    fn new(seed: u64) -> Anything {
        let pending = [Pending::default(); THREADS_MAX];
        Anything { random: Random::new(seed), pending, current: 0, step: 0 }
    }

    /// The next view, and whether an operation ends after it.
    fn view(&mut self) -> (View<'_>, bool) {
        let random = &mut self.random;
        self.step += 1 + random.below(2);
        // Few threads at first, later any.
        let known = if self.step < 500 { 0b111 } else { u64::MAX };
        let drawn = random.bits() & random.bits() & random.bits() & known;
        let runnable = if drawn == 0 { bit(self.step as usize) } else { drawn };
        let thread = random.below(THREADS_MAX as u64) as usize;
        let access = *random.pick(&[Access::None, Access::Read, Access::Write]);
        self.pending[thread] = Pending { address: random.below(4) * 8, access };
        if random.one_in(20) {
            self.current = thread;
        }
        let (yields, ends) = (random.one_in(9), random.one_in(30));
        let (current, step) = (self.current, self.step);
        let place = Place { call: (step / 90) as u32, steps: (step % 90) as u32, again: 0 };
        (View { current, runnable, yields, step, place, pending: &self.pending }, ends)
    }

    /// What the policy answers to so many views.
    fn answers(seed: u64, policy: &mut Policy, views: usize) -> Vec<usize> {
        let mut anything = Anything::new(seed);
        let ask = |_| {
            let (view, ends) = anything.view();
            let next = policy.next(&view);
            assert!(next < THREADS_MAX && view.runnable & bit(next) != 0, "{next} cannot run");
            let others = view.runnable & !bit(view.current);
            let listed = matches!(policy.0, Kind::List(_) | Kind::Turns(_));
            assert!(!view.yields || next != view.current || others == 0 || listed, "it yields");
            if ends {
                policy.operation_ended(next);
            }
            anything.current = next;
            next
        };
        (0..views).map(ask).collect()
    }
}

fn outlook(threads: usize) -> Outlook {
    Outlook { threads, operations: 100 }
}

#[test]
fn the_answer_is_a_thread_that_can_run() {
    for spec in all() {
        for seed in 0..30 {
            let threads = [0, 1, 3, 64, 100][seed as usize % 5];
            let operations = [0, 1, 100, u64::MAX][seed as usize % 4];
            let outlook = Outlook { threads, operations };
            let mut policy = Policy::new(&spec, seed, &outlook);
            let answers = Anything::answers(seed, &mut policy.clone(), 3000);
            assert_eq!(Anything::answers(seed, &mut policy, 3000), answers, "{spec}");
        }
    }
}

#[test]
fn seeds_differ_and_repeat() {
    let program = queue();
    let outlook = program.outlook();
    for spec in Spec::ROTATION {
        let run = |seed| program.run(Policy::new(spec, seed, &outlook));
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..50 {
            assert_eq!(run(seed), run(seed));
            seen.insert(run(seed));
        }
        assert!(seen.len() > 7, "{spec}: {}", seen.len());
    }
}

/// A change here means that every recorded seed replays something else.
#[test]
fn schedules_never_change() {
    let program = queue();
    let outlook = program.outlook();
    let mut told = String::new();
    for spec in Spec::ROTATION {
        let order = program.run(Policy::new(spec, 11, &outlook));
        told += &format!("{spec} {}\n", program.told(&order, None));
    }
    assert_eq!(told, GOLDEN, "\n{told}");
}

const GOLDEN: &str = "\
walk:1 aaaaaaaabbbbbbbddddcccccccc
walk:3 aaaabbbbbbbddddccccccccaaaa
walk:5 aaaabbbbbbbaaaaddddcccccccc
walk:10 aaaabbbbbbbaaaaddddcccccccc
walk:20 aaaabbbddddccbbbccccbacacaa
pct:3 aaaaaacccccbbbbbbbddddcccaa
pct:5 aaccccccccbbddbbbbbddaaaaaa
pct:10 aaaaaacbbbbbddddccccccaacbb
pos abddddbbbbbbcaaaaaccaaccccc
surw ddddaaccbcaccccbbbbbaabaaac
delay:1 aaaddddbbbbbbbccccccccaaaaa
delay:2 aaaaaaddddbccccccccaabbbbbb
delay:4 aaddddbbbbbbccccccccaabaaaa
stall accccbbbbbbbddddccccaaaaaaa
";

#[test]
fn addresses_change_nothing() {
    let moved = |address: u64| if address == 0 { 0 } else { 0x7fff_0000_0000 - address * 4096 };
    for spec in all() {
        let mut one = Policy::new(&spec, 5, &outlook(3));
        let mut other = Policy::new(&spec, 5, &outlook(3));
        let mut anything = Anything::new(5);
        for _ in 0..2000 {
            let (view, _) = anything.view();
            let pending = view.pending.map(|p| Pending { address: moved(p.address), ..p });
            let next = one.next(&view);
            assert_eq!(other.next(&View { pending: &pending, ..view }), next, "{spec}");
            anything.current = next;
        }
    }
}

#[test]
fn a_list_repeats_what_any_policy_did() {
    for (spec, seed) in all().iter().zip(0..).flat_map(|(spec, seed)| [(spec, seed); 2]) {
        let mut policy = Policy::new(spec, seed, &outlook(3));
        let answers = Anything::answers(seed, &mut policy, 3000);
        let (mut anything, mut switches) = (Anything::new(seed), Vec::new());
        for next in &answers {
            let (view, _) = anything.view();
            if *next != unprompted(&view) {
                switches.push(Switch { step: view.step, thread: *next });
            }
            anything.current = *next;
        }
        let list: Spec = Spec::List(switches).to_string().parse().expect("a list");
        let mut list = Policy::new(&list, 0, &outlook(0));
        assert_eq!(Anything::answers(seed, &mut list, 3000), answers, "{spec}");
    }
}

#[test]
fn turns_repeat_what_any_policy_did() {
    for (spec, seed) in all().iter().zip(0..) {
        let mut policy = Policy::new(spec, seed, &outlook(3));
        let answers = Anything::answers(seed, &mut policy, 3000);
        let (mut anything, mut turns) = (Anything::new(seed), Vec::new());
        let mut tries = Tries::NONE;
        for next in &answers {
            let (view, _) = anything.view();
            let place = tries.place(&view);
            if *next != unprompted(&view) {
                turns.push(Turn::new(&view, place, *next));
            }
            anything.current = *next;
        }
        let turns: Spec = Spec::Turns(turns).to_string().parse().expect("turns");
        let mut turns = Policy::new(&turns, 0, &outlook(0));
        assert_eq!(Anything::answers(seed, &mut turns, 3000), answers, "{spec}");
    }
}

/// How long threads that spin (reading `address` until it is written; the engine notices 100 steps
/// without a change) keep a writer from its 30 events, of which the last is what they wait for.
fn spin(mut policy: Policy, spinners: usize, address: u64) -> u64 {
    let writer = spinners / 2;
    let mut pending = [Pending { address, access: Access::Read }; THREADS_MAX];
    let (mut written, mut current, mut step) = (0, 0, 0);
    let mut unchanged = [0; THREADS_MAX];
    while written < 30 && step < 10_000 {
        pending[writer] = Pending { address: 8 + written % 2 * 8, access: Access::Write };
        let runnable = (2 << spinners) - 1;
        let yields = unchanged[current] >= 100;
        if yields {
            unchanged[current] = 0;
        }
        let place = Place { steps: step as u32, ..Place::default() };
        current = policy.next(&View { current, runnable, yields, step, place, pending: &pending });
        unchanged[current] += 1;
        if current == writer {
            written += 1;
            unchanged = [0; THREADS_MAX];
        }
        step += 1;
    }
    step
}

#[test]
fn spinning_ends() {
    for spec in all().iter().chain([&Spec::List(Vec::new())]) {
        let mut most = 0;
        for (seed, spinners) in (0..20).flat_map(|seed| [1, 2, 3, 7].map(|n| (seed, n))) {
            for address in [8, 32] {
                let policy = Policy::new(spec, seed, &outlook(spinners + 1));
                most = most.max(spin(policy, spinners, address));
            }
        }
        assert!(most < 10_000, "{spec}: {most} steps");
    }
}

/// Decisions that need not be asked for, and are not, change nothing.
#[test]
fn skipping_quiet_decisions_changes_nothing() {
    for spec in all() {
        let mut skipped = 0;
        for seed in 0..200 {
            let policy = || Policy::new(&spec, seed, &queue().outlook());
            let (asked, not_asked) = (queue().run(policy()), run_skipping(policy(), &mut skipped));
            assert_eq!(asked, not_asked, "{}, seed {seed}", spec.name());
        }
        let looks = matches!(spec, Spec::Pos | Spec::Surw | Spec::Turns(_));
        assert_eq!(skipped == 0, looks, "{}", spec.name());
    }
}

/// As [`Program::run`], with the policy asked only where it must be.
fn run_skipping(policy: Policy, skipped: &mut u64) -> Vec<usize> {
    struct Skipping {
        quiet: u64,
        passed: u64,
        runnable: u64,
    }
    let mut state = Skipping { quiet: 0, passed: 0, runnable: 0 };
    queue().run_by(policy, |policy, view, ended| {
        if ended && policy.heeds_operations() {
            policy.skip(view.current, std::mem::take(&mut state.passed));
            policy.operation_ended(view.current);
            state.quiet = 0;
        }
        if view.lone().is_none() && state.quiet > 0 && view.runnable == state.runnable {
            (state.quiet, state.passed, *skipped) =
                (state.quiet - 1, state.passed + 1, *skipped + 1);
            return view.current;
        }
        policy.skip(view.current, std::mem::take(&mut state.passed));
        let next = policy.next(view);
        (state.quiet, state.runnable) = (policy.quiet(next, view.step), view.runnable);
        next
    })
}
