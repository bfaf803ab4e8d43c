"""The verbs of the library, one per file, and what they return; :mod:`anon_core` offers all of them by name."""
