"""What a program is: names, scopes, the project's modules, regions, guards and known values."""
