"""The portal that is a folder: an open-data site of static files."""
