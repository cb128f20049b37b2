"""Captures the graphs that a program runs on torch_xla, and compiles them for TPUs that are not there.

Nothing here imports torch, jax or libtpu: the program runs in its own interpreter, the compiler in
another, one process for each graph and chip.
"""
