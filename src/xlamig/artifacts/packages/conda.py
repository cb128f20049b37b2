"""environment.yml: dependencies of Conda, with a list for pip among them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import yaml

from xlamig.artifacts.packages.pip import index_fact, read_line
from xlamig.artifacts.packages.requirement import read_conda
from xlamig.artifacts.page import Page
from xlamig.facts import Fact

_TORCH = frozenset({"torch", "pytorch-gpu", "pytorch-cuda", "pytorch-mutex", "libtorch"})


def read_environment(page: Page, root: yaml.MappingNode) -> Iterator[Fact]:
    """Nothing for a mapping that only looks like one."""
    keys = {key.value: value for key, value in root.value if isinstance(key, yaml.ScalarNode)}
    listed = keys.get("dependencies")
    if not isinstance(listed, yaml.SequenceNode) or not ({"channels", "name", "prefix"} & keys.keys()):
        return
    items = [item for item in listed.value if isinstance(item, yaml.ScalarNode)]
    facts = [fact for item in items if (fact := read_conda(page, item.value, _span(item)))]
    proofs = {} if any(fact.name in _TORCH for fact in facts) else {"no-conda-torch": ""}
    yield from (replace(fact, proofs={**fact.proofs, **proofs}) for fact in facts)
    for item in listed.value:
        if isinstance(item, yaml.MappingNode):
            for key, values in item.value:
                if key.value == "pip" and isinstance(values, yaml.SequenceNode):
                    yield from _pip(page, values)


def _pip(page: Page, values: yaml.SequenceNode) -> Iterator[Fact]:
    for item in values.value:
        if not isinstance(item, yaml.ScalarNode) or item.value.startswith(("-r", "-c", "-e")):
            continue
        words = item.value.split()
        if len(words) == 2 and words[0].startswith("--") and "://" in words[1]:
            yield from index_fact(page, words[1], _span(item), words[0])
        elif not item.value.startswith("-"):
            yield from read_line(page, item.value, _span(item))


def _span(node: yaml.Node) -> tuple[int, int]:
    return node.start_mark.index, node.end_mark.index
