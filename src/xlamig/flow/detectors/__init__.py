"""Find what is worth reporting: walk a module and turn names and interpreter events into facts."""
