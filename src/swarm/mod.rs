//! The run itself: arrivals, pacing, Agents at work, settling.
