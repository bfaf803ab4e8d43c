"""How many sensitive values a class leaves open, and how far they are from those of the table."""
