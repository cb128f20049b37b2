"""The packages of the zoo and their cases, read from `packages/*.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

PACKAGES = Path(__file__).with_name("packages")


class ManifestError(Exception):
    """A file of the manifest lacks a key, or a package that is asked for is not in it."""


@dataclass(frozen=True, slots=True)
class Case:
    """`make` is the expression that builds the model `m`; `call` is one step with it.

    `steps` is how many training and evaluation steps to run.
    """

    name: str
    make: str
    call: str
    steps: tuple[int, int] = (5, 5)


@dataclass(frozen=True, slots=True)
class Package:
    """`setup` runs once before the cases; `families` are the folders whose entries split one by one."""

    name: str
    version: str
    setup: str
    cases: tuple[Case, ...]
    families: tuple[str, ...] = ()

    @property
    def requirement(self) -> str:
        return f"{self.name}=={self.version}"

    def only(self, text: str) -> Package:
        """Return the package with the cases whose names contain `text`."""
        return replace(self, cases=tuple(case for case in self.cases if text in case.name))

    @property
    def folder(self) -> str:
        return f"{self.name}-{self.version}"


def load(names: Iterable[str] = (), folder: Path = PACKAGES) -> list[Package]:
    """Return the packages of these names, all if there are none. Raises ManifestError."""
    files = {path.stem: path for path in sorted(folder.glob("*.toml"))}
    wanted = list(names) or list(files)
    if unknown := [name for name in wanted if name not in files]:
        raise ManifestError(f"not in the manifest: {', '.join(unknown)}")
    return [read(files[name]) for name in wanted]


def read(path: Path) -> Package:
    """Raises ManifestError for a file that is no manifest of a package."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        cases = tuple(_cases(content))
        name = content["name"]
        setup = content.get("setup", f"import {name.replace('-', '_')}")
        package = Package(name, content["version"], setup, cases, tuple(content.get("families", ())))
    except (tomllib.TOMLDecodeError, KeyError) as error:
        raise ManifestError(f"{path.name}: {error}") from error
    if repeated := {case.name for case in cases if sum(c.name == case.name for c in cases) > 1}:
        raise ManifestError(f"{path.name}: two cases are named {', '.join(sorted(repeated))}")
    return package


def _cases(content: dict[str, Any]) -> Iterator[Case]:
    """A case is named after the expression that makes it; one of a group after its part of it."""
    for make, call in content.get("cases", {}).items():
        yield Case(make, make, call)
    for group in content.get("group", []):
        for name in group["names"]:
            label, make, call = (
                text.replace("{}", name) for text in (group.get("label", "{}"), group["make"], group["call"])
            )
            yield Case(label, make, call, tuple(group.get("steps", (5, 5))))
