"""Estimate the cost of a report: pure functions from findings to a plan."""
