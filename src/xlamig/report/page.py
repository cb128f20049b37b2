"""Shared parts of the pages for a browser: the templates, escaped."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined


def environment() -> Environment:
    """Templates that escape everything and know all their variables."""
    return Environment(
        loader=PackageLoader("xlamig.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_clean,
    )


def _clean(value: object) -> object:
    """Characters that no document may hold, such as those of a file name that is no UTF-8."""
    if type(value) is not str:  # markup is clean
        return value
    return "".join(char if char.isprintable() or char in "\n\t" else "·" for char in value)
