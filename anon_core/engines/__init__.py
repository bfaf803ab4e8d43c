"""Where rows are counted and plans applied. Today: Arrow, in memory."""
