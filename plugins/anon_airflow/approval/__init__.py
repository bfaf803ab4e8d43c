"""Approval: the question to a person, the signed answer, and who may give it."""
