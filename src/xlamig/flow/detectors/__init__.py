"""What is worth reporting: walks a module and turns names and interpreter events into facts."""
