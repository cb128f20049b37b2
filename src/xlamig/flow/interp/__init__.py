"""The interpreter: runs a module on abstract values and says what tensors, loops and modules do in it.

Nothing is imported here: a run in which nothing has changed needs the data that analyses exchange, but no
interpreter.
"""
