"""Keys: what signs receipts, approvals and the audit chain, and how one key follows another."""
