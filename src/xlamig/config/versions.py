"""Releases of the targets against what was measured."""

from __future__ import annotations

from xlamig.config.settings import MEASURED, Settings


def unmeasured(settings: Settings) -> str | None:
    """A line about a `target-version` that no measurement speaks of."""
    if settings.target_version is None:
        return None
    from packaging.version import Version

    first, last = MEASURED[settings.target]
    if Version(first).release <= Version(settings.target_version).release[:2] <= Version(last).release:
        return None
    known = f"{first} to {last}" if first != last else first
    return (
        f"Warning: {settings.target} {settings.target_version} was not measured; the rules speak of {known}"
    )
