"""The files with the kernels that a Python file builds or calls."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator

from xlamig.engine.jobs import AnalyseJob
from xlamig.facts import ApiUse, Fact, Value

_KERNEL = re.compile(r"[\w./-]+\.cu\b")


def kernel_files(job: AnalyseJob, facts: Iterable[Fact]) -> tuple[str, ...]:
    """Return the files whose kernels a file calls, and those that it names as sources of an extension."""
    folder = posixpath.dirname(job.source.filename)
    named = (name for fact in facts if isinstance(fact, ApiUse) for name in _sources(fact))
    built = (posixpath.normpath(posixpath.join(folder, name)) for name in named)
    return tuple(dict.fromkeys((*(place for _, place in job.kernels), *built)))


def _sources(fact: ApiUse) -> Iterator[str]:
    if (given := fact.argument("sources")) is not None:
        yield from (name for text in _texts(given.value) for name in _KERNEL.findall(text))


def _texts(value: Value) -> Iterator[str]:
    yield str(value.value)
    for item in value.items:
        yield from _texts(item)
