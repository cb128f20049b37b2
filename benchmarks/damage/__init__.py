"""Damaged files of every kind that xlamig reads: no traceback, no hang, no wrong byte."""
