//! A scenario and a seed made definite: parties, journeys, load, faults, thresholds.
