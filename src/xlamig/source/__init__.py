"""Files, their text, and what comments say about them. Knows nothing of torch."""
