//! Cuts the strings of a key-value history into pieces that concatenate as the strings do: the
//! pieces are its values.

/// How the strings of a key-value history are split into pieces, which are its values. The pieces
/// of a concatenation must be those of its parts, and equal pieces must mean equal strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// Every string is one piece; for histories without `append`.
    Nowhere,
    /// Before each occurrence of a character with which every written string begins.
    Before(char),
    /// Every character is a piece.
    Everywhere,
}

impl Split {
    /// The coarsest split that is correct if exactly the strings `written` are put or appended.
    pub fn coarsest<'a>(written: impl IntoIterator<Item = &'a str>, appends: bool) -> Split {
        if !appends {
            return Split::Nowhere;
        }
        let mut firsts = written.into_iter().filter_map(|text| text.chars().next());
        match firsts.next() {
            Some(first) if firsts.all(|other| other == first) => Split::Before(first),
            _ => Split::Everywhere,
        }
    }

    /// The pieces of `text`; none if it is empty.
    pub fn pieces(self, text: &str) -> Vec<&str> {
        let begins = |(at, c): (usize, char)| match self {
            Split::Nowhere => at == 0,
            Split::Before(first) => at == 0 || c == first,
            Split::Everywhere => true,
        };
        let starts: Vec<usize> =
            text.char_indices().filter(|at| begins(*at)).map(|(at, _)| at).collect();
        let ends = starts.iter().skip(1).copied().chain([text.len()]);
        starts.iter().zip(ends).map(|(start, end)| &text[*start..end]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_a_concatenation_are_the_pieces_of_its_parts() {
        let parts = ["xay", "xx", "", "xé"];
        for split in [Split::coarsest(parts, true), Split::coarsest(["ab", "b"], true)] {
            let whole: String = parts.concat();
            let each: Vec<&str> = parts.iter().flat_map(|part| split.pieces(part)).collect();
            assert_eq!(split.pieces(&whole), each, "{split:?}");
            assert_eq!(each.concat(), whole);
        }
        assert_eq!(Split::coarsest(parts, true), Split::Before('x'));
        assert_eq!(Split::coarsest(["ab", "b"], true), Split::Everywhere);
        assert_eq!(Split::coarsest(["ab", "b"], false).pieces("ab"), ["ab"]);
        assert_eq!(Split::Nowhere.pieces(""), Vec::<&str>::new());
    }
}
