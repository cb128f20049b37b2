"""Held-out probe programs: half must be reported, half are look-alikes that must stay silent."""
