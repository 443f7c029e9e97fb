//! What a run exercised, in a few lines, and mostly what it did not.

use crate::core::columns;
use crate::fuzz::exercise::{Exercise, Gap, pairs_of_answers};
use crate::report::words;

/// Most gaps that are listed; a page has them all.
const GAPS_MAX: usize = 5;

/// "exercised: 3 operations with 6 kinds of answers, ...".
pub fn line(exercise: &Exercise) -> String {
    let answers = &exercise.answers;
    let mut ops: Vec<_> = answers.iter().map(|answers| answers.answer.op).collect();
    ops.dedup();
    let (all, missing) = pairs_of_answers(exercise);
    let (mean, most) = exercise.concurrency();
    format!(
        "exercised: {} with {} of answers, {} of {all} pairs of kinds at once; \
         {mean:.1} calls under way on average, at most {most}",
        words::counted(ops.len() as u64, "operation"),
        words::counted(answers.len() as u64, "kind"),
        all - missing.len(),
    )
}

/// What never happened, with options of `interlap fuzz` that may bring it about.
pub fn gaps(exercise: &Exercise, gaps: &[Gap]) -> String {
    if gaps.is_empty() {
        return String::new();
    }
    let sampled = match exercise.is_sampled() {
        true => format!(", of what overlaps in the {} rounds looked at", exercise.looked.rounds),
        false => String::new(),
    };
    let mut text = format!("never exercised{sampled} (and what may bring it about):\n");
    let row = |Gap { never, try_ }: &Gap| {
        let advice = if try_.is_empty() { "a longer run" } else { try_ };
        [never.clone(), advice.to_string()]
    };
    let rows: Vec<_> = gaps.iter().take(GAPS_MAX).map(row).collect();
    text += &columns::table(&rows, 0..0, "  ");
    if let Some(more @ 1..) = gaps.len().checked_sub(GAPS_MAX) {
        text += &format!("  and {more} more, which a page shows: --html FILE\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::answer::AnswerKind;
    use crate::core::operation::Op;
    use crate::fuzz::exercise::{Analysed, Answer, Answers, Pair};

    #[test]
    fn a_line_sums_up_and_gaps_follow() {
        let answer = |outcome| Answer { op: Op::SetInsert, outcome };
        let given = |outcome| Answers { answer: answer(outcome), calls: 1, callers: 3 };
        let (one, other) = (answer(AnswerKind::Done), answer(AnswerKind::Failed));
        let exercise = Exercise {
            answers: vec![given(AnswerKind::Done), given(AnswerKind::Failed)],
            pairs: vec![Pair { one, other, same: 1, apart: 0 }],
            depths: vec![1, 1],
            ..Exercise::default()
        };
        let expected = "exercised: 1 operation with 2 kinds of answers, 1 of 3 pairs of kinds at \
                        once; 1.5 calls under way on average, at most 2";
        assert_eq!(line(&exercise), expected);
        let gap = |at: usize| Gap { never: format!("gap {at}"), try_: "--keys 2".to_string() };
        let text = gaps(&exercise, &(0..7).map(gap).collect::<Vec<_>>());
        assert!(text.contains("  gap 4 ") && !text.contains("gap 5"), "{text}");
        assert!(text.ends_with("  and 2 more, which a page shows: --html FILE\n"), "{text}");
        assert!(text.starts_with("never exercised (and what"), "{text}");
        assert!(gaps(&exercise, &[]).is_empty());
        let looked = Analysed { rounds: 9, calls: 18 };
        let sampled = Exercise { rounds: 10, looked, ..exercise };
        let text = gaps(&sampled, &[gap(0)]);
        assert!(text.starts_with("never exercised, of what overlaps in the 9 rounds"), "{text}");
        assert!(text.ends_with("--keys 2\n"), "{text}");
    }
}
