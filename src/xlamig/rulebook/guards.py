"""Guards: conditions under which a place runs, and whether the target meets them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from xlamig.config.settings import Target
from xlamig.facts import Fact, Guard, GuardKind
from xlamig.findings import Mechanism, Phase, Severity
from xlamig.rulebook.rule import Guarded

Policy = Literal["plain", "lower", "silent"]

_DEAD: frozenset[GuardKind] = frozenset({"never", "type-checking"})
_OPTIONAL: frozenset[GuardKind] = frozenset(
    {"optional-import", "package", "hasattr", "version", "unset", "off", "half", "self-test", "host-test"}
)
_CLOSED: Mapping[Target, frozenset[GuardKind]] = {
    "torch_xla": _OPTIONAL | {"cuda", "other-device", "no-xla"},
    "torch_tpu": _OPTIONAL | {"cuda", "other-device", "xla"},
}

_OTHER_TARGET: Mapping[Target, GuardKind] = {"torch_xla": "no-xla", "torch_tpu": "xla"}
_OTHER_CODE: Mapping[GuardKind, str] = {
    "optional-import": "the code without this import",
    "package": "the code without this package",
    "hasattr": "the code without it",
}

_NOT_THERE: frozenset[GuardKind] = frozenset({"cuda", "other-device"})  # false on every TPU

_TRIED: frozenset[GuardKind] = frozenset({"self-test", "host-test"})
COSTS: frozenset[Mechanism] = frozenset({"recompile", "host-sync", "cpu-fallback", "slow"})
"""The mechanisms that cost time, and only on a device."""
STAYS_ON_HOST = "Leave it: nothing moves to a device here"
"""The help for such costs where code stays on the host."""
_REMOVALS = frozenset({"Delete", "Drop", "If", "Leave", "Omit", "Remove"})
_LONGEST = 60  # characters of a test that a message quotes


def closed_guards(fact: Fact, target: Target) -> tuple[Guard, ...]:
    """Return the guards that the target does not enter, or need not: those that it never enters first."""
    guards = (guard for guard in fact.guards if guard.kind in _CLOSED[target])
    return tuple(sorted(guards, key=lambda guard: not _never_entered(guard, target)))


def _never_entered(guard: Guard, target: Target) -> bool:
    return guard.kind in _NOT_THERE or guard.kind == _OTHER_TARGET[target]


def policy(fact: Fact, guarded: Guarded, target: Target) -> Policy:
    if any(guard.kind in _DEAD for guard in fact.guards):
        return "silent"
    closed = closed_guards(fact, target)
    if guarded == "ignore":  # but what tries out one module is not the program that a rule is about
        return "lower" if any(guard.kind in _TRIED for guard in closed) else "plain"
    return guarded if closed else "plain"


def condition(message: str, guard: Guard) -> str:
    """Return the message with what has to hold for it, because short formats show no reasons."""
    if guard.kind == "optional-import":
        return f"{message} (only if an optional import succeeds)"
    if len(guard.text) > _LONGEST:
        return message
    if guard.kind in _NOT_THERE:
        return f"{message} (under `{guard.text}`, which is false on a TPU)"
    return f"{message} (only if `{guard.text}`)"


def needs_nothing(help: str, guard: Guard, target: Target, phase: Phase, mechanism: Mechanism) -> bool:
    """Return whether nothing has to change below a guard that the target never enters, or where code stays on
    the host and costs time on a device. What uses several GPUs is to use several chips in another way, unless
    it is only removed."""
    skipped = bool(help) and _never_entered(guard, target) and (phase != "scale" or _removes(help))
    return skipped or _costs_nothing(guard, mechanism)


def advice(help: str, guard: Guard, target: Target, severity: Severity | None, mechanism: Mechanism) -> str:
    """Return what to do at a place that a TPU does not run, or need not: nothing, unless it needs that
    work. A finding that is only a hint without the guard too stays one."""
    if not help:
        return help
    if _costs_nothing(guard, mechanism):
        return STAYS_ON_HOST
    if _never_entered(guard, target):
        if _removes(help):
            return "Leave it: a TPU does not run this"
        return f"Leave it as it is; if a TPU needs this work too, {_continue_sentence(help)}"
    if severity == "info" or guard.kind not in _OTHER_CODE or help.startswith(("If ", "Leave ")):
        return help
    return f"Leave it if {_OTHER_CODE[guard.kind]} is right; otherwise {_continue_sentence(help)}"


def _costs_nothing(guard: Guard, mechanism: Mechanism) -> bool:
    """Return whether code stays on the host below a guard, and would only cost time on a device."""
    return guard.kind == "host-test" and mechanism in COSTS


def _removes(help: str) -> bool:
    return help.split(maxsplit=1)[0].strip(":,") in _REMOVALS


def _continue_sentence(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:]


def explain(guard: Guard, row: int) -> str:
    if guard.kind == "optional-import":
        return f"this runs only if the import in line {row} succeeds"
    if guard.called:
        return f"a TPU does not run this: only code under `{guard.text}` calls the function"
    if guard.kind in _NOT_THERE:
        return f"a TPU does not run this: `{guard.text}` is false there (line {row})"
    if guard.kind == "unset":
        return f"this runs only if `{guard.text}` is set from outside, the class leaves it off (line {row})"
    if guard.kind in _TRIED:
        return f"this tries out a module that others import, and runs only if it is run itself (line {row})"
    if guard.kind == "off":
        return f"this runs only if `{guard.text}` holds, which nothing in the project makes true (line {row})"
    if guard.kind == "half":
        return f"this runs only for float16, and a TPU's 16-bit type is bfloat16 (line {row})"
    return f"this runs only if `{guard.text}` holds (line {row})"
