"""Which reader a file is for, and which files need none."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from xlamig.artifacts.native import Links, Native, may_matter
from xlamig.artifacts.page import Page
from xlamig.artifacts.wanted import matcher
from xlamig.facts import ContextTags, Environment, Fact, Interest

# A file without any of these says nothing that a rule could be about.
_TELLING = re.compile(
    r"cuda|gpu|nvidia|accelerators:|nccl|nvcr|deepspeed|torch|accelerate|distributed_type|fp16|precision|dependencies"
    r"|install|amp|vllm|text-generation|trtllm",
    re.IGNORECASE,
)
_LOCKED = re.compile(r"nvidia-|torch|cuda|\+cu\d")


# A thousand brackets that are opened and not closed: the parsers take time without end for it.
_DEEP = re.compile(r"[(\[{](?:[^()\[\]{}]*[(\[{]){1000}")


_EXTRA = re.compile(
    r"(?:^|[-_./])(?:opt|optional|extras?|dev|develop|test|tests|docs?|gpu|cuda|tensorrt|trt|bench(?:mark)?s?)(?=[-_./])"
)


def facts_of(
    text: str,
    kind: str,
    interest: Interest,
    context: ContextTags,
    filename: str = "",
    native: tuple[Native, Links] | None = None,
) -> list[Fact]:
    """The facts of a file that is not Python, by place. What cannot be read is a fact, too."""
    if kind == "native":
        if native is None:
            return []
        from xlamig.artifacts.native.facts import native_facts

        return list(native_facts(Page(text, kind, context), filename, *native))
    if not (_LOCKED if kind == "lock" else _TELLING).search(text) and kind not in ("requirements", "json"):
        return []
    page = Page(text, kind, context, bool(_EXTRA.search(filename)))
    found = _too_deep(page) or _read(page, interest)
    wanted = [fact for fact in found if fact.kind in interest.kinds]
    return list(_first_of_each(sorted(wanted, key=lambda fact: (fact.span, fact.kind))))


def _first_of_each(facts: Iterable[Fact]) -> Iterator[Fact]:
    """A script that sets a variable in ten branches says one thing."""
    seen: set[tuple[str, str]] = set()
    for fact in facts:
        if isinstance(fact, Environment) and fact.what in ("variable", "command", "package"):
            if (fact.what, fact.name) in seen:
                continue
            seen.add((fact.what, fact.name))
        yield fact


def _too_deep(page: Page) -> list[Fact]:
    found = _DEEP.search(page.text)
    return [page.as_malformed("nested too deeply", found.start())] if found else []


def native_of(text: str) -> Native | None:
    """The summary of a C++ or CUDA source; None for one that has to do with neither a GPU nor torch."""
    if not may_matter(text) or _DEEP.search(text):
        return None
    from xlamig.artifacts.native.scan import scan

    return scan(text)


def setup_py_facts(text: str, context: ContextTags) -> list[Fact]:
    """Return the requirements of a setup.py; the rest of it is analysed like any Python file."""
    from xlamig.artifacts.packages.setuptools import read_setup_py

    return list(read_setup_py(Page(text, "setup-py", context)))


def _read(page: Page, interest: Interest) -> Iterator[Fact]:
    wanted = matcher(interest.surroundings)
    match page.kind:
        case "requirements":
            from xlamig.artifacts.packages.pip import read_requirements

            yield from read_requirements(page)
        case "toml":
            from xlamig.artifacts.packages.toml import read_toml

            yield from read_toml(page)
        case "lock":
            from xlamig.artifacts.packages.toml import read_lock

            yield from read_lock(page)
        case "setup-cfg":
            from xlamig.artifacts.packages.setuptools import read_setup_cfg

            yield from read_setup_cfg(page)
        case "yaml":
            from xlamig.artifacts.surroundings.settings import read_yaml

            yield from read_yaml(page, wanted)
        case "json":
            from xlamig.artifacts.surroundings.settings import read_json

            yield from read_json(page, wanted)
        case "dockerfile":
            from xlamig.artifacts.surroundings.dockerfile import read_dockerfile

            yield from read_dockerfile(page, wanted)
        case "shell":
            from xlamig.artifacts.surroundings.shell import read_shell

            yield from read_shell(page, wanted)
        case "makefile":
            from xlamig.artifacts.surroundings.makefile import read_makefile

            yield from read_makefile(page, wanted)
