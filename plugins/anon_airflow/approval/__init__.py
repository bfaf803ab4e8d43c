"""Approval: the question to a person, the signed answer, and the rule who may answer."""
