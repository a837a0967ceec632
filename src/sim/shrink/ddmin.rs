//! Delta debugging: the smallest part of a list that still passes a test (Zeller and Hildebrandt, 2002).

/// The smallest part of `items`, in their order, that was found to pass `test`; the whole list is taken to pass.
///
/// Nothing of what is left can be taken away alone. Ever smaller pieces are taken away, from half of what there is to
/// single items; a piece that can go goes for good. The first trial is of nothing at all.
///
/// # Errors
///
/// The first that `test` gives; whoever tests has to keep what passed until then.
pub(super) fn ddmin<T: Clone, E>(items: Vec<T>, mut test: impl FnMut(&[T]) -> Result<bool, E>) -> Result<Vec<T>, E> {
    if items.is_empty() || test(&[])? {
        return Ok(Vec::new());
    }
    let mut kept = items;
    let mut piece = kept.len().div_ceil(2);
    // A list of one that cannot be empty is as small as can be.
    while kept.len() > 1 {
        piece = piece.min(kept.len() - 1);
        let before = kept.len();
        let mut from = 0;
        while from < kept.len() && kept.len() > 1 {
            let to = (from + piece).min(kept.len());
            let rest: Vec<T> = kept[..from].iter().chain(&kept[to..]).cloned().collect();
            if !rest.is_empty() && test(&rest)? {
                kept = rest;
            } else {
                from = to;
            }
        }
        if piece > 1 {
            piece = piece.div_ceil(2);
        } else if kept.len() == before {
            break;
        }
    }
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, convert::Infallible};

    use proptest::prelude::*;

    use super::*;

    /// What is left, and how many trials it took.
    fn reduced(count: usize, passes: impl Fn(&[usize]) -> bool) -> (Vec<usize>, usize) {
        let mut trials = 0;
        let kept = ddmin::<_, Infallible>((0..count).collect(), |part| {
            trials += 1;
            Ok(passes(part))
        });
        (kept.unwrap_or_else(|never| match never {}), trials)
    }

    #[test]
    fn a_single_culprit_is_found_in_about_as_many_trials_as_halvings() {
        let (kept, trials) = reduced(1_000, |part| part.contains(&617));
        assert_eq!(kept, [617]);
        assert!(trials < 40, "{trials}");
    }

    #[test]
    fn what_needs_nothing_is_left_with_nothing() {
        assert_eq!(reduced(100, |_| true), (vec![], 1));
        assert_eq!(reduced(0, |_| false), (vec![], 0));
        assert_eq!(reduced(1, |part| !part.is_empty()), (vec![0], 1));
    }

    #[test]
    fn an_error_ends_it_at_once() {
        let mut trials = 0;
        let ended = ddmin((0..10).collect(), |_: &[i32]| {
            trials += 1;
            if trials == 3 { Err("enough") } else { Ok(false) }
        });
        assert_eq!((ended, trials), (Err("enough"), 3));
    }

    proptest! {
        /// Where more never hurts, what is needed is all that is left.
        #[test]
        fn what_is_needed_is_what_is_left(
            count in 1usize..60,
            needed in prop::collection::btree_set(0usize..60, 0..6),
        ) {
            let needed: BTreeSet<usize> = needed.into_iter().filter(|item| *item < count).collect();
            let (kept, trials) = reduced(count, |part| needed.iter().all(|item| part.contains(item)));
            prop_assert_eq!(&kept, &needed.iter().copied().collect::<Vec<_>>());
            prop_assert!(trials <= count * count + 3 * count, "{} trials for {} items", trials, count);
        }

        /// Whatever the test: what is left passes, in order, and nothing of it can be taken away alone.
        #[test]
        fn nothing_can_be_taken_from_what_is_left(
            count in 1usize..24,
            salt in any::<u64>(),
        ) {
            let passes = |part: &[usize]| {
                let bits = part.iter().fold(salt, |sum, item| sum.rotate_left(7) ^ (*item as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15));
                part.len() == count || bits.count_ones() % 3 == 0
            };
            let (kept, _) = reduced(count, passes);
            prop_assert!(passes(&kept));
            prop_assert!(kept.windows(2).all(|pair| pair[0] < pair[1]));
            for gone in 0..kept.len() {
                let mut rest = kept.clone();
                rest.remove(gone);
                prop_assert!(!passes(&rest), "{:?} can lose {}", kept, kept[gone]);
            }
            prop_assert_eq!(reduced(count, passes).0, kept);
        }
    }
}
