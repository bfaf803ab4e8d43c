"""The best of all methods."""
