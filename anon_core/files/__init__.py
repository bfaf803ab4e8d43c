"""Files that others wrote and files that are written whole; YAML with line numbers; what a name can be."""
