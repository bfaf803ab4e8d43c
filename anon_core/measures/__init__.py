"""How safe, how sensitive and how useful a table is."""
