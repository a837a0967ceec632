//! Virtual time: a queue of instants in nanoseconds that jumps to the next one when nothing else can run.
//!
//! It is not tokio's timer, which has steps of a millisecond. Whoever waits stands in a queue ordered by time and, within
//! one instant, by who began to wait first. The runtime has one thread, no timer and no sockets; when none of its tasks
//! can run it is about to park, and that is when the next waiter, one alone, is woken. So each instant's event runs to its
//! end, with all that it sets off, before the next one begins.

use std::{
    collections::BTreeMap,
    fmt, io,
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll, Waker},
};

use tokio_util::sync::CancellationToken;

use super::Moment;

/// The time of one simulated run; it stands at the beginning until [`Timeline::run`].
#[derive(Default)]
pub struct Timeline {
    now: AtomicU64,
    queue: Mutex<Queue>,
    /// Nothing can run, and nobody waits for a time.
    stalled: CancellationToken,
}

/// Who waits, by time and then by turn.
#[derive(Default)]
struct Queue {
    turns: u64,
    /// Those for whom it is time already. They are few, and come and go with every request, while thousands may wait.
    present: BTreeMap<Place, Waker>,
    /// Those for whom it was not when they began to wait.
    future: BTreeMap<Place, Waker>,
}

/// A time in nanoseconds and a turn.
type Place = (u64, u64);

impl Queue {
    /// Takes out who comes first.
    fn pop_first(&mut self) -> Option<(Place, Waker)> {
        match (self.present.first_key_value(), self.future.first_key_value()) {
            (Some((present, _)), Some((future, _))) if future < present => self.future.pop_first(),
            (Some(_), _) => self.present.pop_first(),
            (None, _) => self.future.pop_first(),
        }
    }

    /// Those among whom somebody waits whose turn was set aside, or not.
    fn among(&mut self, set_aside: bool) -> &mut BTreeMap<Place, Waker> {
        if set_aside { &mut self.present } else { &mut self.future }
    }
}

/// Why a simulated run could not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum NotSimulated {
    /// There is no runtime for it.
    #[error("cannot start the runtime of the simulated world: {0}")]
    Runtime(#[from] io::Error),
    /// Every task waits for another one, and none for a time.
    #[error("the simulated world came to a standstill at {0}: everybody waits, and nobody for a time")]
    Standstill(Moment),
}

impl fmt::Debug for Timeline {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Timeline").field("now", &self.now()).field("waiting", &self.waiting()).finish()
    }
}

impl Timeline {
    /// A time that stands at the beginning.
    #[must_use]
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// The instant it is; may be read from any thread.
    #[must_use]
    pub fn now(&self) -> Moment {
        Moment::from_nanos(self.now.load(Ordering::Relaxed))
    }

    /// How many wait for a time.
    #[must_use]
    pub fn waiting(&self) -> usize {
        let queue = self.queue();
        queue.present.len() + queue.future.len()
    }

    /// Runs `future`, and what it spawns, to its end on this thread, in this time. What still runs then is dropped.
    ///
    /// The runtime knows neither tokio's timer nor sockets, so that nothing but this time can decide anything.
    ///
    /// # Errors
    ///
    /// If the runtime cannot be made, or everybody waits and nobody for a time.
    pub fn run<F: Future>(self: &Arc<Self>, future: F) -> Result<F::Output, NotSimulated> {
        let timeline = Arc::clone(self);
        let runtime =
            tokio::runtime::Builder::new_current_thread().on_thread_park(move || timeline.advance()).build()?;
        runtime.block_on(async {
            tokio::select! {
                biased;
                output = future => Ok(output),
                () = self.stalled.cancelled() => Err(NotSimulated::Standstill(self.now())),
            }
        })
    }

    /// Nothing can run: wakes who waits for the next instant, and has been waiting longest among those.
    fn advance(&self) {
        let next = self.queue().pop_first();
        match next {
            Some(((at, _), waker)) => {
                self.now.fetch_max(at, Ordering::Relaxed);
                waker.wake();
            }
            None => self.stalled.cancel(),
        }
    }

    /// Waits until that moment; not at all for one that has come.
    pub(super) fn until(&self, moment: Moment) -> Until<'_> {
        Until { timeline: self, at: moment.as_nanos(), set_aside: None, turn: None }
    }

    /// Sets aside a place in the queue for later: at whatever instant it is taken, it comes before all that are asked for
    /// after this. Whoever hands something over to another task names its turn so, and what happens in between, in how
    /// many steps, decides nothing.
    pub(super) fn set_aside(&self) -> u64 {
        let mut queue = self.queue();
        queue.turns += 1;
        queue.turns - 1
    }

    /// Waits for a turn that was set aside, at this instant: until nothing else can run.
    pub(super) fn turn(&self, number: u64) -> Until<'_> {
        Until { timeline: self, at: self.now().as_nanos(), set_aside: Some(number), turn: None }
    }

    /// A lock whose holder panicked is still whole: every change under it is one insertion or removal.
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A wait for a moment. Dropped before its time, it leaves the queue.
#[derive(Debug)]
pub(super) struct Until<'a> {
    timeline: &'a Timeline,
    at: u64,
    /// A place in the queue that was set aside for it.
    set_aside: Option<u64>,
    /// Its place in the queue, while it has one.
    turn: Option<u64>,
}

impl Future for Until<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let timeline = self.timeline;
        let mut queue = timeline.queue();
        if let Some(turn) = self.turn {
            // Woken for another reason at this very instant, it still waits for its turn.
            return match queue.among(self.set_aside.is_some()).get_mut(&(self.at, turn)) {
                Some(waker) => {
                    waker.clone_from(context.waker());
                    Poll::Pending
                }
                None => {
                    drop(queue);
                    self.turn = None; // it left the queue when it was woken
                    Poll::Ready(())
                }
            };
        }
        let turn = match self.set_aside {
            Some(turn) => turn,
            None if self.at <= timeline.now().as_nanos() => return Poll::Ready(()),
            None => {
                queue.turns += 1;
                queue.turns - 1
            }
        };
        queue.among(self.set_aside.is_some()).insert((self.at, turn), context.waker().clone());
        drop(queue);
        self.turn = Some(turn);
        Poll::Pending
    }
}

impl Drop for Until<'_> {
    fn drop(&mut self) {
        if let Some(turn) = self.turn {
            self.timeline.queue().among(self.set_aside.is_some()).remove(&(self.at, turn));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanos: u64) -> Moment {
        Moment::from_nanos(nanos)
    }

    #[test]
    fn who_waits_is_woken_by_time_and_then_by_turn_in_steps_of_a_nanosecond() {
        let timeline = Timeline::new();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let waits = [("late", 1_001), ("first", 1_000), ("second", 1_000), ("early", 3)];
        timeline
            .run(async {
                let tasks = waits.map(|(name, nanos)| {
                    let (timeline, seen) = (Arc::clone(&timeline), Arc::clone(&seen));
                    tokio::spawn(async move {
                        timeline.until(at(nanos)).await;
                        seen.lock().expect("whole").push((name, timeline.now()));
                    })
                });
                for task in tasks {
                    task.await.expect("no panic");
                }
            })
            .expect("it ends");
        let expected = [("early", at(3)), ("first", at(1_000)), ("second", at(1_000)), ("late", at(1_001))];
        assert_eq!(*seen.lock().expect("whole"), expected);
    }

    #[test]
    fn time_stands_still_while_anything_can_run() {
        let timeline = Timeline::new();
        let after = timeline.run(async {
            for _ in 0..10_000 {
                tokio::task::yield_now().await;
            }
            let task = tokio::spawn(async { tokio::task::yield_now().await });
            task.await.expect("no panic");
            let still = timeline.now();
            timeline.until(at(u64::MAX - 1)).await;
            (still, timeline.now())
        });
        assert_eq!(after.expect("it ends"), (Moment::START, at(u64::MAX - 1)));
    }

    #[test]
    fn a_wait_that_is_given_up_leaves_the_queue() {
        let timeline = Timeline::new();
        timeline
            .run(async {
                for round in 1..1_000 {
                    tokio::select! {
                        biased;
                        () = timeline.until(at(u64::MAX)) => unreachable!("the end of time"),
                        () = timeline.until(at(round)) => {}
                    }
                    assert_eq!(timeline.waiting(), 0);
                }
            })
            .expect("it ends");
        assert_eq!((timeline.now(), timeline.waiting()), (at(999), 0));
    }

    #[test]
    fn a_wait_woken_for_another_reason_waits_for_its_turn() {
        let timeline = Timeline::new();
        let turns = timeline.run(async {
            let (one, other) = (timeline.until(at(5)), timeline.until(at(5)));
            tokio::pin!(one, other);
            // Both begin to wait, one after the other; then the first one's turn comes.
            let first = std::future::poll_fn(|context| {
                let first = one.as_mut().poll(context);
                let second = other.as_mut().poll(context);
                first.map(|()| (timeline.now(), second.is_ready()))
            })
            .await;
            other.await;
            (first, timeline.now())
        });
        assert_eq!(turns.expect("it ends"), ((at(5), false), at(5)));
    }

    #[test]
    fn a_turn_that_was_set_aside_comes_when_nothing_else_can_run_and_before_later_ones() {
        let timeline = Timeline::new();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let note = |name: &'static str, seen: &Arc<Mutex<Vec<_>>>| seen.lock().expect("whole").push(name);
        timeline
            .run(async {
                let (first, second) = (timeline.set_aside(), timeline.set_aside());
                let later = timeline.until(at(0)); // has come, and waits for nothing
                let tasks = [("second", second), ("first", first)].map(|(name, turn)| {
                    let (timeline, seen) = (Arc::clone(&timeline), Arc::clone(&seen));
                    tokio::spawn(async move {
                        timeline.turn(turn).await;
                        note(name, &seen);
                    })
                });
                for _ in 0..10 {
                    tokio::task::yield_now().await;
                }
                later.await;
                note("what could run", &seen);
                for task in tasks {
                    task.await.expect("no panic");
                }
            })
            .expect("it ends");
        assert_eq!(*seen.lock().expect("whole"), ["what could run", "first", "second"]);
    }

    #[test]
    fn a_standstill_is_an_error_and_not_a_hang() {
        let timeline = Timeline::new();
        let ended = timeline.run(async {
            timeline.until(at(7)).await;
            std::future::pending::<()>().await;
        });
        assert!(matches!(ended, Err(NotSimulated::Standstill(moment)) if moment == at(7)), "{ended:?}");
    }

    #[test]
    #[should_panic(expected = "timer")]
    fn tokios_own_timer_decides_nothing_here() {
        let _ = Timeline::new().run(async { tokio::time::sleep(std::time::Duration::from_millis(1)).await });
    }
}
