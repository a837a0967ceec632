//! The whole program, from outside: one binary, a module per behaviour.

mod catalogues;
mod crash_points;
mod defects;
mod determinism;
mod exploring;
mod guard;
mod lanes;
mod latency;
mod later;
mod layering;
mod network;
mod overload;
mod program;
mod rehearsal;
mod secrets;
mod shrinking;
mod signatures;
mod signing_in;
mod simulated;
mod target;
