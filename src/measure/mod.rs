//! Histograms, interval log, counters, thresholds and generator health.
