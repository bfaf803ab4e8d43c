"""Sources of tables, one file each."""
