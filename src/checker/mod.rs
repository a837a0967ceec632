//! Judges a recorded history and ledger: anomalies, each with its evidence. Shares no code with the judged.
