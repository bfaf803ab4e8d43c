"""How many sensitive values the people of a class may have, and how far these are from those of the whole table."""
