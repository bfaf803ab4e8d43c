"""Which columns single people out, and what role each column seems to play."""
