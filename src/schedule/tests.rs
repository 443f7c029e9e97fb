//! Tests of what holds for every policy.
//! It chooses a thread that can run, whatever the view. A seed gives the same schedule in every
//! version. Spinning threads do not starve others. A list repeats the schedule of any policy.

use super::simulator::Program;
use super::*;

/// Threads of a small lock-free structure: reads, then a write, of a few addresses.
fn queue() -> Program {
    Program::new(&["xyX;xyX;xY", "xpyX;yxY", "yxXq;ypY;x", "zZxX"])
}

/// The policies of the rotation, a list and turns.
fn all() -> Vec<Spec> {
    let switches = (0..200).map(|n| Switch { step: n * 7, thread: n as usize % THREADS_MAX });
    let list = Spec::List(switches.collect());
    let turns = (0..200).map(|n| {
        let position = Position { call: n / 4, steps: n % 4, repeats: n % 2 };
        Turn { thread: n as usize % 5, position, gives_way: n % 3 == 0, to: n as usize * 7 % 6 }
    });
    let turns = Spec::Turns(turns.collect());
    Spec::ROTATION.iter().cloned().chain([list, turns]).collect()
}

/// Random views, among them many that no engine would pass.
struct RandomViews {
    random: Random,
    pending: [Pending; THREADS_MAX],
    current: usize,
    step: u64,
}

impl RandomViews {
    fn new(seed: u64) -> RandomViews {
        let pending = [Pending::default(); THREADS_MAX];
        RandomViews { random: Random::new(seed), pending, current: 0, step: 0 }
    }

    /// The next view, and whether an operation ends after it.
    fn view(&mut self) -> (View<'_>, bool) {
        let random = &mut self.random;
        self.step += 1 + random.below(2);
        // Three threads at first, later any.
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
        let position = Position { call: (step / 90) as u32, steps: (step % 90) as u32, repeats: 0 };
        (View { current, runnable, yields, step, position, pending: &self.pending }, ends)
    }

    /// The policy's answers to this many views.
    fn answers(seed: u64, policy: &mut Policy, count: usize) -> Vec<usize> {
        let mut views = RandomViews::new(seed);
        let ask = |_| {
            let (view, ends) = views.view();
            let next = policy.next(&view);
            assert!(next < THREADS_MAX && view.runnable & bit(next) != 0, "{next} cannot run");
            let others = view.runnable & !bit(view.current);
            let listed = matches!(policy.0, Kind::List(_) | Kind::Turns(_));
            assert!(!view.yields || next != view.current || others == 0 || listed, "it yields");
            if ends {
                policy.operation_ended(next);
            }
            views.current = next;
            next
        };
        (0..count).map(ask).collect()
    }
}

fn size(threads: usize) -> RoundSize {
    RoundSize { threads, operations: 100 }
}

#[test]
fn the_chosen_thread_can_run() {
    for spec in all() {
        for seed in 0..30 {
            let threads = [0, 1, 3, 64, 100][seed as usize % 5];
            let operations = [0, 1, 100, u64::MAX][seed as usize % 4];
            let size = RoundSize { threads, operations };
            let mut policy = Policy::new(&spec, seed, &size);
            let answers = RandomViews::answers(seed, &mut policy.clone(), 3000);
            assert_eq!(RandomViews::answers(seed, &mut policy, 3000), answers, "{spec}");
        }
    }
}

#[test]
fn seeds_differ_and_repeat() {
    let program = queue();
    let size = program.size();
    for spec in Spec::ROTATION {
        let run = |seed| program.run(Policy::new(spec, seed, &size));
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..50 {
            assert_eq!(run(seed), run(seed));
            seen.insert(run(seed));
        }
        assert!(seen.len() > 7, "{spec}: {}", seen.len());
    }
}

/// After a change here every recorded seed replays something else.
#[test]
fn schedules_never_change() {
    let program = queue();
    let size = program.size();
    let mut schedules = String::new();
    for spec in Spec::ROTATION {
        let order = program.run(Policy::new(spec, 11, &size));
        schedules += &format!("{spec} {}\n", program.threads_text(&order, None));
    }
    assert_eq!(schedules, GOLDEN, "\n{schedules}");
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
fn schedules_do_not_depend_on_where_variables_are() {
    let moved = |address: u64| if address == 0 { 0 } else { 0x7fff_0000_0000 - address * 4096 };
    for spec in all() {
        let mut one = Policy::new(&spec, 5, &size(3));
        let mut other = Policy::new(&spec, 5, &size(3));
        let mut views = RandomViews::new(5);
        for _ in 0..2000 {
            let (view, _) = views.view();
            let pending = view.pending.map(|p| Pending { address: moved(p.address), ..p });
            let next = one.next(&view);
            assert_eq!(other.next(&View { pending: &pending, ..view }), next, "{spec}");
            views.current = next;
        }
    }
}

#[test]
fn a_list_repeats_the_schedule_of_any_policy() {
    for (spec, seed) in all().iter().zip(0..).flat_map(|(spec, seed)| [(spec, seed); 2]) {
        let mut policy = Policy::new(spec, seed, &size(3));
        let answers = RandomViews::answers(seed, &mut policy, 3000);
        let (mut views, mut switches) = (RandomViews::new(seed), Vec::new());
        for next in &answers {
            let (view, _) = views.view();
            if *next != default_choice(&view) {
                switches.push(Switch { step: view.step, thread: *next });
            }
            views.current = *next;
        }
        let list: Spec = Spec::List(switches).to_string().parse().expect("a list");
        let mut list = Policy::new(&list, 0, &size(0));
        assert_eq!(RandomViews::answers(seed, &mut list, 3000), answers, "{spec}");
    }
}

#[test]
fn turns_repeat_the_schedule_of_any_policy() {
    for (spec, seed) in all().iter().zip(0..) {
        let mut policy = Policy::new(spec, seed, &size(3));
        let answers = RandomViews::answers(seed, &mut policy, 3000);
        let (mut views, mut turns) = (RandomViews::new(seed), Vec::new());
        let mut counts = YieldCounts::NONE;
        for next in &answers {
            let (view, _) = views.view();
            let position = counts.position(&view);
            if *next != default_choice(&view) {
                turns.push(Turn::new(&view, position, *next));
            }
            views.current = *next;
        }
        let turns: Spec = Spec::Turns(turns).to_string().parse().expect("turns");
        let mut turns = Policy::new(&turns, 0, &size(0));
        assert_eq!(RandomViews::answers(seed, &mut turns, 3000), answers, "{spec}");
    }
}

/// The steps until a writer has made its 30 events while other threads spin: they read `address`,
/// and yield after 100 steps without a write, as the engine makes them.
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
        let position = Position { steps: step as u32, ..Position::default() };
        let view = View { current, runnable, yields, step, position, pending: &pending };
        current = policy.next(&view);
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
                let policy = Policy::new(spec, seed, &size(spinners + 1));
                most = most.max(spin(policy, spinners, address));
            }
        }
        assert!(most < 10_000, "{spec}: {most} steps");
    }
}

#[test]
fn skipping_decisions_that_are_certain_changes_nothing() {
    for spec in all() {
        let mut skipped = 0;
        for seed in 0..200 {
            let policy = || Policy::new(&spec, seed, &queue().size());
            let (asked, not_asked) = (queue().run(policy()), run_skipping(policy(), &mut skipped));
            assert_eq!(asked, not_asked, "{}, seed {seed}", spec.name());
        }
        let never_skips = matches!(spec, Spec::Pos | Spec::Surw | Spec::Turns(_));
        assert_eq!(skipped == 0, never_skips, "{}", spec.name());
    }
}

/// As [`Program::run`], but skips the decisions that [`Policy::decided_ahead`] allows to skip.
fn run_skipping(policy: Policy, skipped: &mut u64) -> Vec<usize> {
    struct Skipping {
        ahead: u64,
        passed: u64,
        runnable: u64,
    }
    let mut state = Skipping { ahead: 0, passed: 0, runnable: 0 };
    queue().run_by(policy, |policy, view, ended| {
        if ended && policy.uses_operations() {
            policy.skip(view.current, std::mem::take(&mut state.passed));
            policy.operation_ended(view.current);
            state.ahead = 0;
        }
        if view.only_runnable().is_none() && state.ahead > 0 && view.runnable == state.runnable {
            (state.ahead, state.passed, *skipped) =
                (state.ahead - 1, state.passed + 1, *skipped + 1);
            return view.current;
        }
        policy.skip(view.current, std::mem::take(&mut state.passed));
        let next = policy.next(view);
        (state.ahead, state.runnable) = (policy.decided_ahead(next, view.step), view.runnable);
        next
    })
}
