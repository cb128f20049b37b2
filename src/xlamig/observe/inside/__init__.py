"""Code that runs in the traced program. It attributes counter changes to lines and decides nothing."""
