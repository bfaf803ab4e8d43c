"""The recoding methods: each changes a table until the policy holds, as little as possible."""
