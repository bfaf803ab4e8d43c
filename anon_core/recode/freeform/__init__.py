"""Freeform recoding [Wang2009]_."""
