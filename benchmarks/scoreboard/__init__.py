"""All figures of a version of xlamig in one table."""
