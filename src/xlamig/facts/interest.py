"""The names that the rule book can use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from xlamig.knowledge import signatures

PROOFS_OF_USES = frozenset({"to-host", "no-gradient"})
"""The proofs that say what becomes of the result of a call."""


@dataclass(frozen=True, slots=True)
class Interest:
    """The names the rulebook can use, compiled once, so that the analyser looks for nothing else.

    `names` are exact canonical names, `prefixes` come from "torch.cuda.*" and end in ".", those of
    variables from "NCCL_*"; `methods` are the last parts of "Tensor.cuda", "Module.cuda" and
    "unknown.cuda", `settings` those of "setting.gpus".
    `followed` and `followed_prefixes` are those of `names` whose results a rule asks the uses of.
    `surroundings` are names, also with "*", of what stands in files that are not Python.
    `signatures` are the rule book's own parameter names, in order; `aliases` maps other public names
    of an API to the canonical one; `helper` is the module that portable fixes call.
    """

    kinds: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    prefixes: tuple[str, ...] = ()
    methods: frozenset[str] = frozenset()
    settings: frozenset[str] = frozenset()
    keywords: frozenset[str] = frozenset()
    packages: frozenset[str] = frozenset()
    variables: frozenset[str] = frozenset()
    variable_prefixes: tuple[str, ...] = ()
    followed: frozenset[str] = frozenset()
    followed_prefixes: tuple[str, ...] = ()
    surroundings: frozenset[str] = frozenset()
    signatures: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)
    helper: str = "xla_compat"

    def parameters(self, name: str) -> tuple[str, ...]:
        """Parameter names in order, for reading positional arguments: the book's, else torch's own."""
        own = self.signatures.get(name)
        return own if own is not None else signatures.parameters(name) or ()

    def wants(self, name: str) -> bool:
        return name in self.names or name.startswith(self.prefixes)

    def follows(self, name: str) -> bool:
        """Return whether a rule asks what becomes of the result of a call."""
        return name in self.followed or name.startswith(self.followed_prefixes)

    def wants_variable(self, name: str) -> bool:
        return name in self.variables or name.startswith(self.variable_prefixes)
