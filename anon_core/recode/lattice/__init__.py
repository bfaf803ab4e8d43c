"""Global recoding: one level per column for the whole table [LeFevre2005]_."""
