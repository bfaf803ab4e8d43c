"""The draft of a publication file that ``anon init`` writes."""
