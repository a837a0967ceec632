//! What people and machines read of a run: terminal summary, summary.json.
