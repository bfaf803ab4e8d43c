"""The CKAN portal."""
