"""How likely a row is linked to its person, in the table and in the population."""
