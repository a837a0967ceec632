//! One sweep that decides whether answers can be placed on one time line along which a rank never falls.
//!
//! Every answer was true at some instant between its request and its arrival. Such a placing exists exactly if no
//! answer that was heard before another was asked for has the higher rank (closed intervals: overlapping requests order
//! nothing). So it is enough to walk the requests in order and carry the highest rank heard so far. Unanswered requests
//! add nothing. Cost: two sorts and one pass.

use super::case::Look;
use super::ground::Ground;

/// The first request whose answer ranks below one heard before it was sent: (the earlier answer, the later one).
pub(crate) fn first_fall<'a, R: Ord>(
    looks: &[&'a Look],
    ground: &Ground,
    rank: impl Fn(&Look) -> R,
) -> Option<(&'a Look, &'a Look)> {
    // Nothing falls where all rank the same, as most operations do all along.
    let first = looks.first().map(|look| rank(look))?;
    if looks.iter().all(|look| rank(look) == first) {
        return None;
    }
    let mut by_sent: Vec<&Look> = looks.to_vec();
    by_sent.sort_by_key(|look| ground.key(look.sent));
    let mut by_left: Vec<&Look> = looks.to_vec();
    by_left.sort_by_key(|look| ground.key(look.left));
    let mut left = by_left.into_iter().peekable();
    let mut highest: Option<&Look> = None;
    for look in by_sent {
        while let Some(earlier) = left.next_if(|earlier| ground.before(earlier.left, look.sent)) {
            if highest.is_none_or(|highest| rank(earlier) > rank(highest)) {
                highest = Some(earlier);
            }
        }
        if let Some(highest) = highest.filter(|highest| rank(highest) > rank(look)) {
            return Some((highest, look));
        }
    }
    None
}
