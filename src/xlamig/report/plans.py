"""Reports of a plan, one module per format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module

from xlamig.effort.plan import Plan
from xlamig.findings import Report
from xlamig.report.context import Context

FORMATS: Mapping[str, str] = {
    "text": "plan_text",
    "json": "plan_json",
    "markdown": "plan_markdown",
    "html": "plan_html",
    "csv": "plan_csv",
    "tasks": "plan_tasks",
}


def render(name: str, plan: Plan, report: Report, context: Context, explain: bool = False) -> Iterator[str]:
    """The plan in the format `name`, as lines without newline; `explain` adds every term."""
    module = import_module(f"xlamig.report.{FORMATS[name]}")
    lines: Iterator[str] = module.render(plan, report, context, explain)
    return lines
