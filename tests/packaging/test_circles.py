"""No module imports itself through others."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import xlamig

ROOT = Path(xlamig.__file__).parents[1]
DOMAIN = "xlamig.flow.interp.domain"


def imports() -> dict[str, set[str]]:
    """By module, the modules that it imports anywhere, also for types only."""
    paths = {name_of(path): path for path in (ROOT / "xlamig").rglob("*.py")}
    found = {}
    for module, path in paths.items():
        names: set[str] = set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module:
                inner = (f"{node.module}.{alias.name}" for alias in node.names)
                names.update(name if name in paths else node.module for name in inner)
        found[module] = {name for name in names if name in paths and name != module}
    return found


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


@pytest.mark.slow
def test_there_are_no_import_circles() -> None:
    try:
        TopologicalSorter(imports()).prepare()
    except CycleError as error:
        raise AssertionError(" -> ".join(error.args[1])) from None


@pytest.mark.slow
def test_the_domain_imports_nothing_of_the_interpreter() -> None:
    for module, names in imports().items():
        if module.startswith(DOMAIN):
            assert all(name.startswith(DOMAIN) for name in names if name.startswith("xlamig.flow.interp."))
