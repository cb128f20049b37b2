"""Put the facts about operators into words."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from xlamig.cli.ops_answer import Answer
from xlamig.knowledge.aten import about_devices
from xlamig.knowledge.operators import Case, Operator, Operators

WIDTH = 100

_TITLES = {
    "native": "runs on the device",
    "fallback": "runs on the CPU",
    "error": "raises an error",
    "wrong-result": "gives a wrong result",
    "conditional": "runs on the device, with exceptions",
    "unknown": "not known",
}
_CASES = {
    "native": "runs on the device",
    "fallback": "falls back to the CPU",
    "error": "raises",
    "wrong-result": "gives a wrong result",
    "conditional": "runs on the device with some arguments only",
    "unknown": "is not known",
}
_KNOWN = {
    "": "Measured {date} with {versions}.",
    "probe": "Traced {date} with {versions}; it was not run on a TPU.",
    "registry": "The dispatcher of {versions} has it so, asked {date}; it was neither traced nor run.",
}
_DIED = "the process"
_COST = (
    "Each call copies its inputs to the host and the result back, cuts the graph there and waits. No "
    "message is printed; the counter {counters} of torch_xla.debug.metrics counts the calls."
)
_READ = "It reads a value back to the host, so each call waits for everything computed before it."
_DYNAMIC = "The shape of the result depends on values: XLA recompiles what follows for every new shape."


_DEVICES = {
    "cpu-client": "{aten} has a kernel on a TPU{when}, but none on XLA's CPU client, where `trace` and "
    "`verify` run: a fallback there says nothing about a TPU.",
    "tpu": "{aten} falls back to the CPU on a TPU{when}; XLA's CPU client, where all was measured, runs it.",
}


def pages(answers: Sequence[Answer], tables: Sequence[Operators]) -> str:
    about = {table.target: table for table in tables}
    return "\n".join("".join(f"{line}\n" for line in _page(answer, about)) for answer in answers)


def table(answers: Sequence[Answer], tables: Sequence[Operators]) -> str:
    """A line per operator: its status on each target, and what stands in for it."""
    rows = [("", *(f"{t.target} {t.provenance.versions.get(t.target, '')}".rstrip() for t in tables))]
    rows += [(a.name, *(_short(a.found[t.target]) for t in tables)) for a in answers]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(f"{cell:<{w}}" for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "".join(f"{line}\n" for line in lines) if answers else ""


def _short(operator: Operator | None) -> str:
    if operator is None:
        return "unknown"
    marks = [f"gradient: {operator.backward}"] if operator.backward else []
    marks += ["host read"] if operator.host_read else []
    marks += ["dynamic shape"] if operator.dynamic_shape else []
    return operator.status + (f" ({', '.join(marks)})" if marks else "")


def _page(answer: Answer, about: Mapping[str, Operators]) -> Iterator[str]:
    yield answer.name
    for target, operator in answer.found.items():
        provenance = about[target].provenance
        version = f"{target} {provenance.versions.get(target, '')}".rstrip()
        yield ""
        yield f"  {version}: {_title(operator)}"
        for paragraph in _paragraphs(answer, target, operator, about[target]):
            yield from _wrap_lines(paragraph)
        if operator is not None and operator.status != "unknown":
            versions = ", ".join(f"{name} {number}" for name, number in provenance.versions.items())
            yield from _wrap_lines(_KNOWN[operator.known].format(date=provenance.date, versions=versions))


def _title(operator: Operator | None) -> str:
    title = _TITLES[operator.status if operator else "unknown"]
    if operator and operator.backward and operator.backward != "native":
        title += f", but its gradient {_CASES[operator.backward]}"
    same = f" (as {operator.same_as})" if operator and operator.same_as else ""
    return title + same


def _paragraphs(answer: Answer, target: str, operator: Operator | None, table: Operators) -> Iterator[str]:
    if operator is None:
        yield "The table of this target has no such name."
        return
    if operator.status == "unknown":
        yield f"It was not run: {operator.note or 'no call of it is known'}."
        if kind := table.dispatch("aten::" + answer.name.rpartition(".")[2]):
            end = "a kernel for the device" if kind == "kernel" else "the CPU"
            yield f"The dispatcher would take a plain call to {end}; other arguments may differ."
        return
    if operator.error:
        yield f"What happens: {operator.error}."
    if operator.aten:
        yield f"Not lowered: {_list_names(operator.aten)}."
    if operator.status == "fallback":
        yield _COST.format(counters=operator.aten[0] if operator.aten else "of the operator")
    for case in operator.cases:
        yield f"- {_case(case)}"
    if operator.host_read:
        yield _READ
    if operator.dynamic_shape:
        yield _DYNAMIC
    if why := operator.backward_error or _list_names(operator.backward_aten):
        yield f"The gradient: {why}."
    elif operator.backward == "native":
        yield "The gradient runs on the device."
    for one in about_devices(operator.name) if target == "torch_xla" else ():
        yield _DEVICES[one.falls_back_on].format(aten=one.aten, when=f" {one.when}" if one.when else "")
    instead = answer.instead.get(target)
    if instead and not _is_fine(operator):
        yield f"Instead: {instead.rstrip('.')}."


def _is_fine(operator: Operator) -> bool:
    marks = operator.cases or operator.host_read or operator.dynamic_shape
    return operator.status == "native" and operator.backward in (None, "native") and not marks


def _case(case: Case) -> str:
    when = case.text or " and ".join(_condition(name, pattern) for name, pattern in case.when.items())
    what = f"the gradient {_CASES[case.status]}" if case.backward else f"it {_CASES[case.status]}"
    if case.host_read and case.status == "native":
        what = "it reads a value back to the host"
    elif case.error.startswith(_DIED):
        return f"{when}: {case.error}"
    why = case.error or _list_names(case.aten)
    return f"{when}: {what}{f' ({why})' if why else ''}"


def _condition(name: str, pattern: Any) -> str:
    match pattern:
        case {"absent": True}:
            return f"without `{name}`"
        case {"present": True}:
            return f"with `{name}`"
        case {"not": other}:
            return f"unless {_condition(name, other)}"
        case {"has": other} | {"only": other}:
            return f"with {other!r} in `{name}`"
        case list():
            return " or ".join(f"with `{name}={_literal(item)}`" for item in pattern)
        case dict():
            return f"with `{name}` as {pattern}"
    return f"with `{name}={_literal(pattern)}`"


def _literal(value: object) -> str:
    return value if value in ("inf", "-inf", "nan") and isinstance(value, str) else repr(value)


def _list_names(names: Sequence[str]) -> str:
    shown = names[:4]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def _wrap_lines(paragraph: str) -> list[str]:
    deeper = "      " if paragraph.startswith("- ") else "    "
    return textwrap.wrap(
        paragraph, WIDTH, initial_indent="    ", subsequent_indent=deeper, break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip
