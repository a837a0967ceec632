//! Where a fault can strike, how, and when.
