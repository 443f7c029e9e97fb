//! Lays out rows of cells in columns: every table in text.

use std::ops::Range;

use textwrap::core::display_width;

const GAP: &str = "  ";
/// A wider cell does not widen its column, and shifts the rest of its line.
const WIDTH_MAX: usize = 60;

/// A line for each row, without spaces at its end. Cells of the columns `numbers` are aligned to
/// the right.
pub fn lines<const N: usize>(rows: &[[String; N]], numbers: Range<usize>) -> Vec<String> {
    let width = |column: usize| {
        let widths = rows.iter().map(|row| display_width(&row[column]));
        widths.filter(|width| *width <= WIDTH_MAX).max().unwrap_or(0)
    };
    let widths: [usize; N] = std::array::from_fn(width);
    let line = |row: &[String; N]| {
        let cells = row.iter().zip(widths).enumerate().map(|(column, (cell, width))| {
            let space = " ".repeat(width.saturating_sub(display_width(cell)));
            if numbers.contains(&column) { space + cell } else { format!("{cell}{space}") }
        });
        cells.collect::<Vec<_>>().join(GAP).trim_end().to_string()
    };
    rows.iter().map(line).collect()
}

/// The lines as a text, each after `indent`.
pub fn table<const N: usize>(rows: &[[String; N]], numbers: Range<usize>, indent: &str) -> String {
    lines(rows, numbers).iter().map(|line| format!("{indent}{line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_cells() {
        let row = |cells: [&str; 3]| cells.map(str::to_string);
        let long = "x".repeat(WIDTH_MAX + 1);
        let rows = [row(["ä", "1", "a"]), row(["…──", "20", ""]), row([&long, "3", "c"])];
        let expected = format!(" ä     1  a\n …──  20\n {long}   3  c\n");
        assert_eq!(table(&rows, 1..2, " "), expected);
    }
}
