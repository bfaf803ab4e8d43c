"""Ways to change a table until the policy holds, as little as possible."""
