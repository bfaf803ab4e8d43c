"""The portal CKAN."""
