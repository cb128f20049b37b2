"""Findings in public repositories with the verdict of a person who read the code."""
