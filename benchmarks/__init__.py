"""Measure xlamig on programs, models, scripts, findings and ports; see README.md."""
