"""The model of a program: names, scopes, the project's modules, regions, guards and known values."""
