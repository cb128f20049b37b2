"""Generated data with its provenance, and how to ask it."""
