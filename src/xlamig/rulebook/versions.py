"""`versions = ">=2.9"`: releases of a target that a verdict or a row speaks of."""

from __future__ import annotations

from functools import cache

from xlamig.rulebook.keys import Keys


def read_versions(keys: Keys) -> str | None:
    """A PEP 440 specifier, None where every release is meant."""
    text = keys.text("versions")
    if text is not None and not text.strip():
        raise keys.where.at("versions").error("an empty specifier fits every version")
    if text is not None and admits(text, "0") is None:
        raise keys.where.at("versions").error(f'"{text}" is no version specifier such as ">=2.9"')
    return text


@cache
def admits(versions: str | None, version: str) -> bool | None:
    """Return whether a release is among those meant; None for what is no specifier."""
    if versions is None:
        return True
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        return SpecifierSet(versions).contains(version, prereleases=True)
    except InvalidSpecifier:
        return None
