"""Check the functions that a page matches, and the arguments that it looks at, against torch's."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from difflib import get_close_matches

from xlamig.config.errors import did_you_mean
from xlamig.knowledge.signatures import names, signature
from xlamig.rulebook.rule import Rule

_ALIKE = 0.92  # how alike a misspelled name is, from 0 to 1


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


def misspelled_names(rule: Rule) -> Iterator[str]:
    """Yield a sentence for each name that torch does not have, and that is nearly one of torch's."""
    for match in (match for match in rule.matches if match.kind == "api-use"):
        for name in (*match.sought.get("name", ()), *(row.name for row in match.rows)):
            if near := nearly(name):
                yield f"{rule.page.filename}: torch has no `{name}`, as far as xlamig knows; is it `{near}`?"


def nearly(name: str) -> str:
    """Return the name of torch that a misspelled one is nearly; empty for all other names."""
    if "*" in name or not name.startswith("torch.") or name.startswith("torch.tpu.") or signature(name):
        return ""  # torch_tpu adds `torch.tpu`
    return next(iter(get_close_matches(name, names(), n=1, cutoff=_ALIKE)), "")


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
