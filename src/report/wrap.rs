//! Sets text in lines of a width.

/// Units that stay on the line of their number.
const UNITS: [&str; 5] = ["ns", "µs", "ms", "s", "%"];

/// Breaks text into lines of at most `width` columns.
///
/// Runs of blanks become one; control characters, which a peer's text may hold, become `�`, so that no text can move
/// the cursor of the terminal. A word that is longer than a line is cut.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines: Vec<String> = Vec::new();
    let mut length = width;
    for word in words(text) {
        let word: Vec<char> = word.chars().collect();
        for (index, piece) in word.chunks(width).enumerate() {
            match lines.last_mut() {
                Some(line) if index == 0 && length + 1 + piece.len() <= width => {
                    line.push(' ');
                    line.extend(piece);
                    length += 1 + piece.len();
                }
                _ => {
                    lines.push(piece.iter().collect());
                    length = piece.len();
                }
            }
        }
    }
    lines
}

/// The words of a text, numbers with their units.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace().map(harmless) {
        let unit = UNITS.contains(&word.trim_end_matches([',', ';', '.', ':', ')']));
        match words.last_mut() {
            Some(number) if unit && number.ends_with(|c: char| c.is_ascii_digit()) => {
                number.push(' ');
                number.push_str(&word);
            }
            _ => words.push(word),
        }
    }
    words
}

/// The text without control characters.
pub(super) fn harmless(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_fill_lines_and_long_ones_are_cut() {
        assert_eq!(wrap("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap("a abcdefghij b", 8), ["a", "abcdefgh", "ij b"]);
        assert_eq!(wrap("", 8), Vec::<String>::new());
        assert_eq!(wrap("up to 12 ms, at most", 8), ["up to", "12 ms,", "at most"]);
    }

    #[test]
    fn text_of_a_peer_cannot_steer_the_terminal() {
        assert_eq!(wrap("a\u{1b}[2Jb", 80), ["a\u{fffd}[2Jb"]);
    }

    proptest! {
        #[test]
        fn no_line_is_too_long_and_no_letter_is_lost(text in "[a-zµ ]{0,200}", width in 1..40usize) {
            let lines = wrap(&text, width);
            prop_assert!(lines.iter().all(|line| line.chars().count() <= width), "{:?}", lines);
            let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            prop_assert_eq!(letters(&lines.concat()), letters(&text));
        }
    }
}
