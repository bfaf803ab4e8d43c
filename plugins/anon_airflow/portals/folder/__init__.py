"""The folder portal: an open-data site of static files."""
