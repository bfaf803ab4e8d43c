"""One run of one publication: its state, its locks, its record, and its progress messages."""
