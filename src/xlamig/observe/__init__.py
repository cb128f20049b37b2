"""Runs a program on torch_xla and says what really happened, line by line.

`inside` is loaded by the traced program's own interpreter and is the only part of xlamig that
imports torch; the rest starts that program, waits for it and reads what it left.
"""
