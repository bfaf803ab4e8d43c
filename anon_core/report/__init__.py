"""What was measured and done: one report for the public, one for the people responsible."""
