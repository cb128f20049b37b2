"""Which half of the zoo a file or a case belongs to."""

from __future__ import annotations

from collections.abc import Iterable

from benchmarks.split import Split, split_of
from benchmarks.zoo.manifest import Package


class Splitter:
    """A package is in one half, unless its manifest names folders whose entries are drawn one by one."""

    def __init__(self, packages: Iterable[Package]) -> None:
        self.packages = {package.folder: package for package in packages}

    def of_file(self, file: str) -> Split:
        """`file` is relative to the sources: "timm-1.0.20/timm/models/vgg.py"."""
        return split_of(self.family(file))

    def of_case(self, package: Package, case: str) -> Split:
        """Return the half of a case that failed outside the packages."""
        return split_of(f"{package.name}:{case}" if package.families else package.name)

    def family(self, file: str) -> str:
        """Return the name of a model family, or of a package and perhaps a part of it."""
        folder, _, name = file.partition("/")
        package = self.packages.get(folder)
        if package is None:
            return folder
        parts = [part for part in package.families if name.startswith(f"{part}/")]
        if not parts:
            return package.name
        part = max(parts, key=len)
        entry = name.removeprefix(f"{part}/").partition("/")[0].removesuffix(".py")
        return entry if part.endswith("/models") else f"{package.name}:{entry}"
