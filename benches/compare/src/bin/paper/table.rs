//! Tables of Markdown, and numbers as people read them.

/// A table whose first columns are words and whose other ones are numbers.
pub fn table(head: &[&str], words: usize, rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let head: Vec<String> = head.iter().map(ToString::to_string).collect();
    let rule = (0..head.len()).map(|n| if n < words { "---" } else { "---:" });
    let rule: Vec<String> = rule.map(String::from).collect();
    let all = [line(&head), line(&rule)].into_iter().chain(rows.iter().map(|row| line(row)));
    all.collect()
}

/// 450000 as 450,000.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (n, digit) in digits.chars().enumerate() {
        if n > 0 && (digits.len() - n).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Two digits that count, no more than thousandths.
pub fn short(number: f64) -> String {
    match number {
        n if n >= 100.0 => count(n.round() as u64),
        n if n >= 10.0 => format!("{n:.0}"),
        n if n >= 1.0 => format!("{n:.1}"),
        n if n >= 0.1 => format!("{n:.2}"),
        n => format!("{n:.3}"),
    }
}

pub fn median(numbers: &[f64]) -> f64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() % 2 {
        _ if sorted.is_empty() => f64::NAN,
        1 => sorted[middle],
        _ => (sorted[middle - 1] + sorted[middle]) / 2.0,
    }
}
