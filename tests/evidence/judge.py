"""Compares what a program claims in its head with what a run of it showed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple
from pathlib import Path
from typing import Any

from tests.fixtures.programs import Program

HEALTHY = [0, 1, 0]
STEADY = 3  # the last steps, which must all be alike


def _unexpected(attempt: dict[str, Any]) -> str:
    error = attempt["error"]
    where = f" in {attempt['call']}" if attempt["call"] else ""
    return f"raises {error['type']}: {error['message'][:300]}{where}\n{error['traceback']}"


def _is_claimed(error: dict[str, Any], claims: tuple[str, ...]) -> bool:
    pairs = (claim.partition(": ") for claim in claims)
    return any(error["type"] == kind and text in error["message"] for kind, _, text in pairs)


def _errors(program: Program, attempts: list[dict[str, Any]]) -> Iterator[str]:
    if program.calls and attempts[0]["error"]:
        yield f"loading it {_unexpected(attempts[0])}"
        return
    allowed = program.marked_rows | program.raises_here
    hit = set()
    for attempt in attempts[1:] if program.calls else attempts:
        error = attempt["error"]
        if error is None:
            yield f"{attempt['call'] or 'the program'} does not raise"
        elif not _is_claimed(error, program.raises):
            yield f"not one of the claimed errors: {_unexpected(attempt)}"
        elif error["row"] is None:
            yield (
                "the error comes out of the `# call` expression, and no line of the file raises: let it call "
                f"a function, and mark the line there with `# raises here`: {_unexpected(attempt)}"
            )
        elif error["row"] not in allowed:
            yield f"row {error['row']} raises and is not marked: {_unexpected(attempt)}"
        else:
            hit.add(error["row"])
    owed = program.raises_here or program.marked_rows
    if program.calls and owed - hit:
        yield f"rows {sorted(owed - hit)} are marked and did not raise"


def _elsewhere(program: Program, events: list[dict[str, Any]]) -> Iterator[str]:
    """Nothing that was marked happened. What an optimizer or a module does, it does where it is used."""
    hit = {
        row
        for event in events
        if event["event"] != "transfer"
        and event["place"]
        and Path(event["place"]["filename"]).name == program.path.name
        for row in range(event["place"]["row"], event["place"]["end_row"] + 1)
    }
    owed = program.raises_here or program.marked_rows
    if owed and not owed & hit:
        yield f"rows {sorted(owed)} are marked, and it happened on {sorted(hit) or 'no line'}"


def _not_fixed(program: Program, outcome: dict[str, Any]) -> Iterator[str]:
    """`fixed` keeps the head of `bad`: nothing may raise, and what proved the harm must not hold.
    A call that did nothing may be gone without a trace."""
    for attempt in outcome["attempts"]:
        if attempt["call"] == "check" and program.run == "no-op" and attempt["error"] is None:
            continue
        if attempt["call"] == "check":
            if attempt["error"] is None or attempt["error"]["type"] != "AssertionError":
                yield "check(torch) still proves the harm"
        elif attempt["error"]:
            yield _unexpected(attempt)
    if program.steady and outcome["steps"][-1] == list(astuple(program.steady)):
        yield f"still {outcome['steps'][-1]} per step"


def problems(program: Program, outcome: dict[str, Any]) -> list[str]:
    """Return the problems of the claims of `program`; empty if the run confirms them."""
    if outcome["crashed"]:
        return [f"{outcome['crashed']}\n{outcome['output']}"]
    attempts = outcome["attempts"]
    if program.role == "fixed":
        return list(_not_fixed(program, outcome))
    if program.run == "error":
        return list(_errors(program, attempts))
    found = [_unexpected(attempt) for attempt in attempts if attempt["error"]]
    if program.run in ("no-op", "wrong-result") and all(a["call"] != "check" for a in attempts):
        found.append("there is no check(torch) to prove the claim")
    if program.run == "trace" and program.steady and not found:
        claimed = list(astuple(program.steady))
        if any(step != claimed for step in outcome["steps"][-STEADY:]):
            found.append(f"claimed {claimed} per step, measured {outcome['steps']}")
        if program.role == "bad" and claimed != HEALTHY:
            found.extend(_elsewhere(program, outcome["events"]))
    return found
