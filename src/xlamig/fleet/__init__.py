"""Many repositories: scans into Parquet, and what can be asked of them. Only this package imports
pyarrow, DuckDB and Ray, which come with the extra `fleet`."""
