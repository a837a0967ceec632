//! Clock, keyed randomness, tasks, crash points, durable disk and the Wire between parties.

mod draw;

pub use draw::Draw;
