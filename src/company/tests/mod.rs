//! A Company with its backend, played against by a hand-made Agent over the direct lane in paused time.

mod stand;

mod cancelling;
mod capacity;
mod confirming;
mod crashing;
mod defects;
mod failing;
mod gate;
mod operators;
mod proposing;
mod sessions;
mod signing_in;
