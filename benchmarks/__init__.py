"""What xlamig gets right, measured on programs, models, scripts, findings and ports; see README.md."""
