"""The commands of ``anon``, one verb per file."""
