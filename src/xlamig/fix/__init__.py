"""From judgements to edits, from edits to files."""
