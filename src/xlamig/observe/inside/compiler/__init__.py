"""Compiles a graph for a TPU that is not there. Runs in the interpreter that has jax and libtpu."""
