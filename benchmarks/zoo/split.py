"""Which half of the zoo a file or a case belongs to."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Literal

from benchmarks.zoo.manifest import Package

Split = Literal["dev", "test"]
SPLITS: tuple[Split, ...] = ("dev", "test")


class Splitter:
    """A package is in one half, unless its manifest names folders whose entries are drawn one by one."""

    def __init__(self, packages: Iterable[Package]) -> None:
        self.packages = {package.folder: package for package in packages}

    def family(self, file: str) -> str:
        """`file` is relative to the sources: "timm-1.0.20/timm/models/vgg.py"."""
        folder, _, name = file.partition("/")
        package = self.packages.get(folder)
        if package is None:
            return folder
        families = [f for f in package.families if name.startswith(f"{f}/")]
        if not families:
            return package.name
        longest = max(families, key=len)
        entry = name.removeprefix(f"{longest}/").partition("/")[0].removesuffix(".py")
        return f"{package.name}:{longest}/{entry}"

    def of_file(self, file: str) -> Split:
        return _half(self.family(file))

    def of_case(self, package: Package, case: str) -> Split:
        return _half(f"{package.name}:{case}")


def _half(name: str) -> Split:
    return SPLITS[hashlib.sha256(name.encode()).digest()[0] % 2]
