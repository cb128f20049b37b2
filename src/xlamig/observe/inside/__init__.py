"""What runs in the traced program. Attributes counter changes to lines; decides nothing."""
