"""Runs in the Python that has torch and torch_xla; nothing else of the zoo is imported here."""
