"""Prioritised local recoding [Bampoulidis2019]_."""
