"""Which published rows and which originals belong together: the four k's, and where rows come from."""
