"""Sources of tables, one in each file, and the staged table."""
