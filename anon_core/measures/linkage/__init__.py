"""Which published rows may belong to which originals: the four k's, and whether each row comes from an original."""
