"""Generalisation hierarchies: ladders from the value as collected up to a root that says nothing."""
