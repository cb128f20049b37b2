"""Estimate the cost of a report: pure functions from findings to a plan."""

from xlamig.effort.estimate import estimate
from xlamig.effort.model import MODEL_VERSION
from xlamig.effort.plan import Plan

__all__ = ["MODEL_VERSION", "Plan", "estimate"]
