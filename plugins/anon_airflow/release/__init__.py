"""A release: built from the gated files, published, withdrawn."""
