"""Hierarchies made from values: by width, cut points, date parts, prefixes, frequency, and neighbours in order."""
