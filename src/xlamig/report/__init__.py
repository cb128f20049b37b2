"""Reports of a check, one module per format.

A new format is a module with `render(report, context)`, or `blocks` if it is for people, named here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module

from xlamig.findings import Report
from xlamig.report.context import Context
from xlamig.report.order import Block

FORMATS: Mapping[str, str] = {
    "full": "full",
    "concise": "concise",
    "grouped": "grouped",
    "json": "jsonformat",
    "json-lines": "json_lines",
    "sarif": "sarif",
    "github": "github",
    "gitlab": "gitlab",
    "junit": "junit",
    "markdown": "markdown",
}
FOR_PEOPLE = ("full", "concise", "grouped")  # at a terminal


def render(name: str, report: Report, context: Context) -> Iterator[str]:
    """The report in the format `name`, as lines without newline."""
    if name in FOR_PEOPLE:
        return (line for _, lines in blocks(name, report, context) for line in lines)
    module = import_module(f"xlamig.report.{FORMATS[name]}")
    lines: Iterator[str] = module.render(report, context)
    return lines


def blocks(name: str, report: Report, context: Context) -> Iterator[Block]:
    """The report in a format for people, finding by finding."""
    found: Iterator[Block] = import_module(f"xlamig.report.{FORMATS[name]}").blocks(report, context)
    return found
