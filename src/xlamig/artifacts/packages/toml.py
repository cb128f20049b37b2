"""pyproject.toml (PEP 621, PEP 735, Poetry, PDM, uv, Hatch), Pipfile, and lock files."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from packaging.utils import canonicalize_name

from xlamig.artifacts.packages.pip import index_fact, read_line
from xlamig.artifacts.packages.places import Places
from xlamig.artifacts.packages.requirement import package_fact
from xlamig.artifacts.page import Page
from xlamig.facts import Fact

_WHERE = re.compile(r"\(at line (\d+), column (\d+)\)")
# Arrays of requirements, by their table; "*" stands for any name, and then each is optional.
_LISTS = (
    ("project", "dependencies", False),
    ("project.optional-dependencies", "*", True),
    ("build-system", "requires", False),
    ("dependency-groups", "*", True),
    ("tool.pdm.dev-dependencies", "*", True),
    ("tool.uv", "dev-dependencies", True),
)
_TABLES = (
    ("tool.poetry.dependencies", False),
    ("tool.poetry.dev-dependencies", True),
    ("packages", False),
    ("dev-packages", True),
)
_SOURCES = ("tool.uv.index", "tool.poetry.source", "tool.pdm.source", "source")


def read_toml(page: Page) -> Iterator[Fact]:
    data = _parse_document(page)
    if isinstance(data, Fact):
        yield data
        return
    places = Places(page.text)
    own = canonicalize_name(str(_get(data, "project.name") or ""))
    for table, key, optional in _LISTS:
        found = _table(data, table)
        for name, values in found.items() if key == "*" else [(key, found.get(key))]:
            places.section(table)
            places.key(name)
            for value in values if isinstance(values, list) else ():
                if isinstance(value, str):
                    facts = read_line(page, value, places.value(value), optional=optional)
                    # An extra may name other extras of the project itself.
                    yield from (fact for fact in facts if getattr(fact, "name", "") != own)
    groups = _table(data, "tool.poetry.group")
    tables = [*_TABLES, *((f"tool.poetry.group.{name}.dependencies", True) for name in groups)]
    for table, optional in tables:
        places.section(table)
        for name, wanted in _table(data, table).items():
            span = places.key(name)
            if name != "python":
                yield _requirement_of(page, name, wanted, span, optional)
    for table in _SOURCES:
        places.section(table)
        entries = _get(data, table)
        for entry in entries if isinstance(entries, list) else ():
            url = entry.get("url") if isinstance(entry, Mapping) else None
            if isinstance(url, str):
                yield from index_fact(page, url, places.value(url))


def read_lock(page: Page) -> Iterator[Fact]:
    """Yield every package that a lock file installs, dependencies included."""
    if page.text.lstrip().startswith("{"):
        yield from _read_pipfile_lock(page)
        return
    data = _parse_document(page)
    if isinstance(data, Fact):
        yield data
        return
    places = Places(page.text)
    packages = data.get("package")
    for package in packages if isinstance(packages, list) else ():
        name, version = (package.get("name"), package.get("version")) if isinstance(package, dict) else (0, 0)
        if isinstance(name, str) and isinstance(version, str):
            span = places.value(name)
            cuda = re.search(r"\+(cu\d+)", version)
            yield package_fact(
                page, name, f"=={version}", span, spelled=f"{name} {version}", cuda=cuda[1] if cuda else ""
            )


def _read_pipfile_lock(page: Page) -> Iterator[Fact]:
    try:
        data = json.loads(page.text)
    except json.JSONDecodeError as error:
        yield page.as_malformed(f"invalid JSON ({error.msg})", error.pos)
        return
    except RecursionError:
        yield page.as_malformed("nested too deeply", 0)
        return
    places = Places(page.text)
    for section in ("default", "develop"):
        found = data.get(section) if isinstance(data, dict) else None
        for name, entry in found.items() if isinstance(found, dict) else ():
            version = entry.get("version") if isinstance(entry, dict) else None
            span = places.value(name)
            yield package_fact(page, name, version or "", span, spelled=name, optional=section == "develop")


def _parse_document(page: Page) -> dict[str, Any] | Fact:
    try:
        return tomllib.loads(page.text)
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        found = _WHERE.search(message)
        at = page.offset(int(found[1]), int(found[2])) if found else len(page.text)
        return page.as_malformed(f"no valid TOML: {_WHERE.sub('', message).strip()}", at)
    except RecursionError:
        return page.as_malformed("nested too deeply", 0)


def _requirement_of(page: Page, name: str, wanted: object, span: tuple[int, int], optional: bool) -> Fact:
    """Return the fact of a requirement in the form of Poetry and Pipenv: a version, or a table with one."""
    if isinstance(wanted, list):
        wanted = wanted[0] if wanted else ""
    table = wanted if isinstance(wanted, Mapping) else {}
    version = table.get("version", "") if table else wanted
    version = _specifier(version) if isinstance(version, str) else ""
    where = " ".join(str(table.get(key, "")) for key in ("url", "source", "path"))
    cuda = re.search(r"(?:\+|/)(cu\d+)", f"{version} {where}")
    optional = optional or table.get("optional") is True
    return package_fact(
        page,
        name,
        version,
        span,
        spelled=f"{name} {version}".strip(),
        optional=optional,
        cuda=cuda[1] if cuda else "",
    )


def _specifier(version: str) -> str:
    """Poetry's "^2.1" and "2.1" in the words of PEP 440."""
    version = version.strip()
    if version in ("", "*"):
        return ""
    if version[0] in "<>=!~":
        return version if not version.startswith("~") or version.startswith("~=") else f"=={version[1:]}.*"
    if not version.startswith("^"):
        return f"=={version}"
    major = version[1:].partition(".")[0]
    return f">={version[1:]},<{int(major) + 1}" if major.isdigit() else ""


def _table(data: Mapping[str, Any], path: str) -> Mapping[str, Any]:
    found = _get(data, path)
    return found if isinstance(found, Mapping) else {}


def _get(data: Any, path: str) -> Any:
    for part in path.split("."):
        data = data.get(part) if isinstance(data, Mapping) else None
    return data
