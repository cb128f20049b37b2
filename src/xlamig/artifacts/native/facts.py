"""The facts of a native source: one per file, with its kernels, its operators and who calls them."""

from __future__ import annotations

from collections.abc import Iterator

from xlamig.artifacts.native.index import Links
from xlamig.artifacts.native.summary import Kernel as Found
from xlamig.artifacts.native.summary import Native
from xlamig.artifacts.page import Page
from xlamig.facts import Kernel, Why
from xlamig.knowledge.cuda import in_words

_MOST = 8
_VENDORED = frozenset({"third_party", "third-party", "thirdparty", "3rdparty", "external", "extern", "deps"})


def native_facts(page: Page, filename: str, native: Native, links: Links) -> Iterator[Kernel]:
    """Nothing for a vendored file, for what hipify has made of another, and for plain C++."""
    kernels = _distinct(native)
    is_cuda = filename.endswith((".cu", ".cuh"))
    is_header = filename.endswith((".h", ".hpp", ".hxx"))
    if native.hipified or _VENDORED.intersection(filename.split("/")):
        return
    if not kernels and (is_header or not (native.includes_cuda or (is_cuda and native.functions))):
        return
    anchor = kernels[0].span if kernels else _first_line(page.text)
    names = dict.fromkeys(kernel.name for kernel in kernels)
    operators = dict.fromkeys(bound.operator for bound in links.operators)
    stem = filename.rpartition("/")[2].partition(".")[0]
    yield Kernel(
        **page.fields(*anchor),
        via="source",
        name=" ".join((stem, *names, *operators)).lower(),
        subject=_list_first([*operators] or [*names]) or stem,
        amount=_amount(len(names), native),
        kernels=len(names),
        launches=len(native.launches),
        lines=native.device_lines,
        operators=tuple(operators),
        features=frozenset(native.features),
        related=tuple(_related_places(kernels, native, links)),
    )


def _distinct(native: Native) -> list[Found]:
    """One of each name: overloads and specialisations are one kernel, declarations none."""
    kernels: dict[str, Found] = {}
    for kernel in native.kernels:
        if kernel.form != "declaration":
            kernels.setdefault(kernel.name, kernel)
    return list(kernels.values())


def _first_line(text: str) -> tuple[int, int]:
    start = len(text) - len(text.lstrip())
    end = text.find("\n", start)
    return start, end if end > start else min(start + 1, len(text))


def _amount(kernels: int, native: Native) -> str:
    parts = []
    if kernels:
        parts.append("1 CUDA kernel" if kernels == 1 else f"{kernels} CUDA kernels")
    if native.device_lines:
        parts.append(f"{native.device_lines} lines of device code")
    features = in_words(native.features) if kernels else ""
    return ", ".join([*parts, features] if features else parts) or "C++ code that calls CUDA"


def _list_first(names: list[str], most: int = 3) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def _related_places(kernels: list[Found], native: Native, links: Links) -> Iterator[Why]:
    for kernel in kernels[:_MOST]:
        lines = f", {kernel.lines} lines" if kernel.lines else ""
        yield Why(f"kernel `{kernel.name}`{lines}", kernel.span)
    for bound in links.operators[:_MOST]:
        yield Why(f"Python calls it as `{bound.operator}`, which {bound.filename} defines")
    for user in links.users:
        yield Why(f"`{user.operator}` is called in {user.filename}, line {user.row}")
    if links.more:
        yield Why(f"and at {links.more} more places")
