"""One requirement, in the words of PEP 508 or of Conda, to a fact."""

from __future__ import annotations

import re
from functools import cache

from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name

from xlamig.artifacts.page import Page
from xlamig.facts import Package, Span
from xlamig.knowledge.releases import TORCH

_CUDA = re.compile(r"\+(cu\d+)")
_LOCAL = re.compile(r"\+[\w.]+")
_CONDA = re.compile(r"(?:[\w.-]+::)?([A-Za-z0-9_][\w.-]*)\s*(.*)$", re.DOTALL)
_PYPI = {"pytorch": "torch"}
_CONDA_CUDA = re.compile(r"cuda_?(\d+)(?:\.(\d+))?")
# The machine the program is to run on: a TPU host.
_HOST = {
    "sys_platform": "linux",
    "platform_system": "Linux",
    "os_name": "posix",
    "platform_machine": "x86_64",
}
_PYTHONS = ("3.9", "3.10", "3.11", "3.12", "3.13")


def read_requirement(page: Page, text: str, span: Span, *, optional: bool = False) -> Package | None:
    """The fact; None where its marker rules out a TPU host. Raises InvalidRequirement."""
    read = Requirement(text)
    extra = read.marker is not None and "extra" in str(read.marker)
    if read.marker is not None and not extra and not _holds(read.marker):
        return None
    found = _CUDA.search(str(read.specifier) + (read.url or ""))
    return package_fact(
        page,
        read.name,
        str(read.specifier),
        span,
        spelled=text.strip(),
        optional=optional or extra,
        cuda=found[1] if found else "",
    )


def pypi_name(name: str) -> str:
    """Return PyPI's name of a package that Conda may call otherwise."""
    return _PYPI.get(name.lower(), name)


def read_conda(page: Page, text: str, span: Span) -> Package | None:
    """ "pytorch=2.1=py3.10_cuda11.8_cudnn8", "pytorch-cuda=11.8", "numpy >=1.20"."""
    match = _CONDA.match(text.strip())
    if match is None:
        return None
    name = pypi_name(match[1])
    version, _, build = match[2].strip().lstrip("=").partition("=")
    cuda = _CONDA_CUDA.search(build)
    specifier = match[2].strip() if match[2][:1] in "<>!~" else f"=={version}.*" if version else ""
    return package_fact(
        page,
        name,
        specifier.replace(".*.*", ".*"),
        span,
        spelled=text.strip(),
        cuda=f"cu{cuda[1]}{cuda[2] or ''}" if cuda else "",
    )


def package_fact(
    page: Page,
    name: str,
    version: str,
    span: Span,
    *,
    spelled: str = "",
    optional: bool = False,
    cuda: str = "",
) -> Package:
    normal = canonicalize_name(name)
    return Package(
        **page.fields(*span),
        parts={"name": (span[0], span[0] + len(name))} if _stands(page, name, span) else {},
        package=normal.replace("-", "_"),
        name=normal,
        via="requirement",
        spelled=spelled or name,
        version=version,
        releases=_releases(version) if normal == "torch" else frozenset(),
        cuda=cuda,
        optional=optional,
        file=page.kind,
    )


def _stands(page: Page, name: str, span: Span) -> bool:
    return page.text.startswith(name, span[0]) and page.kind != "lock"


def _holds(marker: Marker) -> bool:
    return any(
        marker.evaluate({**_HOST, "python_version": version, "python_full_version": f"{version}.0"})
        for version in _PYTHONS
    )


@cache
def _releases(specifier: str) -> frozenset[str]:
    """Return the releases that `specifier` admits in some patch release: "==2.4.1" admits 2.4."""
    try:
        wanted = SpecifierSet(_LOCAL.sub("", specifier))
    except InvalidSpecifier:
        return frozenset(TORCH)
    patches = range(10)
    return frozenset(
        minor for minor in TORCH if any(wanted.contains(f"{minor}.{patch}") for patch in patches)
    )
