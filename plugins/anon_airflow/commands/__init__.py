"""The commands of ``anon``, one file for each."""
