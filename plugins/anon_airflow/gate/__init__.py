"""The gate: what is required, what was measured in the very files, the verdict, and the receipt for it."""
