"""Gives a device to a program that never chooses one: what to move, and where."""
