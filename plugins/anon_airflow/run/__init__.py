"""One run of one publication: its state, its locks, its record, and what it tells while it works."""
