"""Check the arguments that a page looks at against the parameters of the functions it matches."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from xlamig.config.errors import did_you_mean
from xlamig.knowledge.signatures import signature
from xlamig.rulebook.rule import Rule


def check_arguments(rule: Rule, signatures: Mapping[str, tuple[str, ...]]) -> None:
    """Raise RulebookError for an argument that is nearly a parameter.

    Only where the parameters of every function are known, from `signatures` (those of tables) or measured;
    other names may be those of `**kwargs`.
    """
    left, known = set(rule.arguments), set[str]()
    for parameters in _parameters(rule, signatures) if left else ():
        if parameters is None:
            return
        left.difference_update(parameters)
        known.update(parameters)
        if not left:
            return
    for argument in sorted(left):
        if hint := did_you_mean(argument, known):
            raise rule.page.where.at("args").at(argument).error(f"no such parameter{hint}")


def _parameters(rule: Rule, signatures: Mapping[str, tuple[str, ...]]) -> Iterator[Collection[str] | None]:
    """Yield the parameters of each function that the rule matches, None where they are not known."""
    for match in rule.matches:
        if match.kind != "api-use" or "keyword" in match.sought:
            yield None
        for name in (*match.sought.get("name", ()), *match.names):
            known = signature(name)
            positions = signatures.get(name)
            measured = (*known.positional, *known.keywords) if known else ()
            yield None if known is None and positions is None else (*(positions or ()), *measured)
