"""The judge finds false claims: no torch needed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.programs import Program, read

from .judge import problems
from .pool import NoTorchXla, Pool, Request

ERROR = """# run = error
# raises = RuntimeError: no driver
model.cuda()  # expect: XLA002
other()
"""


def program(tmp_path: Path, text: str, role: str = "bad") -> Program:
    path = tmp_path / "XLA002" / "case" / f"{role}.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return read(path)


def outcome(
    *attempts: dict[str, Any],
    steps: list[list[int]] | None = None,
    events: tuple[dict[str, Any], ...] = (),
    crashed: str = "",
) -> dict[str, Any]:
    found = {"attempts": list(attempts), "steps": steps or [], "events": events}
    return {"crashed": crashed, "output": "", **found}


def event(
    row: int, name: str = "aten._local_scalar_dense.default", filename: str = "bad.py"
) -> dict[str, Any]:
    return {"event": name, "place": {"filename": filename, "row": row, "end_row": row}}


def attempt(call: str = "", kind: str = "", message: str = "", row: int = 0) -> dict[str, Any]:
    error = {"type": kind, "message": message, "row": row, "traceback": ""} if kind else None
    return {"call": call, "error": error}


@pytest.mark.parametrize(
    "seen",
    [
        pytest.param(attempt(), id="nothing raised"),
        pytest.param(attempt("", "ValueError", "found no driver", 3), id="other type"),
        pytest.param(attempt("", "RuntimeError", "something else", 3), id="other text"),
        pytest.param(attempt("", "RuntimeError", "found no driver", 4), id="other row"),
    ],
)
def test_error_that_is_not_the_claimed_one(tmp_path: Path, seen: dict[str, Any]) -> None:
    assert problems(program(tmp_path, ERROR), outcome(seen))


def test_error_as_claimed(tmp_path: Path) -> None:
    seen = attempt("", "RuntimeError", "found no driver", 3)
    assert problems(program(tmp_path, ERROR), outcome(seen)) == []


def test_every_marked_row_has_to_raise_when_calls_are_named(tmp_path: Path) -> None:
    text = ERROR.replace("model", "# call = f()\n# call = g()\nmodel").replace(
        "other()", "m.cuda()  # expect: XLA002"
    )
    once = [attempt(), attempt("f()", "RuntimeError", "no driver", 5)]
    found = problems(program(tmp_path, text), outcome(*once, attempt("g()", "RuntimeError", "no driver", 5)))
    assert found == ["rows [6] are marked and did not raise"]


def test_an_error_out_of_the_call_itself_says_where_it_has_to_come_from(tmp_path: Path) -> None:
    text = ERROR.replace("model", "# call = f()\nmodel")
    seen = attempt("f()", "RuntimeError", "no driver")
    seen["error"]["row"] = None
    found = problems(program(tmp_path, text), outcome(attempt(), seen))
    assert "mark the line there with `# raises here`" in found[0]


def test_a_clean_program_raises_nothing(tmp_path: Path) -> None:
    text = "# run = clean\nprint()\n"
    assert problems(program(tmp_path, text), outcome(attempt("", "ValueError", "no", 2)))


def test_wrong_result_without_a_check_proves_nothing(tmp_path: Path) -> None:
    text = "# run = wrong-result\nprint()  # expect: XLA002\n"
    assert problems(program(tmp_path, text), outcome(attempt()))


@pytest.mark.parametrize("last, wrong", [([0, 2, 1], False), ([0, 1, 0], True)])
def test_steady_state_is_the_claimed_one(tmp_path: Path, last: list[int], wrong: bool) -> None:
    text = "# run = trace\n# steady = 0/2/1\nstep = f  # expect: XLA002\n"
    steps = [[2, 2, 1], [1, 2, 1], [0, 2, 1], [0, 2, 1], [0, 2, 1], last]
    run = outcome(attempt(), steps=steps, events=(event(3),))
    assert bool(problems(program(tmp_path, text), run)) is wrong


@pytest.mark.parametrize(
    "events, wrong",
    [
        ((), True),
        ((event(4),), True),
        ((event(3, "transfer"),), True),
        ((event(3, filename="worker.py"),), True),
        ((event(4), event(3)), False),
    ],
)
def test_the_harm_shows_on_a_marked_line(
    tmp_path: Path, events: tuple[dict[str, Any], ...], wrong: bool
) -> None:
    text = "# run = trace\n# steady = 0/2/1\nstep = f  # expect: XLA002\n"
    run = outcome(attempt(), steps=[[0, 2, 1]] * 6, events=events)
    assert bool(problems(program(tmp_path, text), run)) is wrong


def test_the_harm_of_what_is_made_elsewhere_shows_where_it_is_said(tmp_path: Path) -> None:
    text = "# run = trace\n# steady = 0/2/1\no = f()  # expect: XLA002\nstep = o  # shows here\n"
    seen = [
        problems(program(tmp_path, text), outcome(attempt(), steps=[[0, 2, 1]] * 6, events=(event(row),)))
        for row in (3, 4)
    ]
    assert [bool(found) for found in seen] == [True, False]


@pytest.mark.parametrize(
    "seen, wrong", [(attempt("check"), True), (attempt("check", "AssertionError"), False)]
)
def test_fixed_no_longer_proves_the_harm(tmp_path: Path, seen: dict[str, Any], wrong: bool) -> None:
    text = "# run = wrong-result\nprint()  # expect: XLA002\n"
    assert bool(problems(program(tmp_path, text, "fixed"), outcome(attempt(), seen))) is wrong


def test_fixed_raises_nothing(tmp_path: Path) -> None:
    assert problems(program(tmp_path, ERROR, "fixed"), outcome(attempt())) == []
    assert problems(program(tmp_path, ERROR, "fixed"), outcome(attempt("", "RuntimeError", "no driver", 3)))


def test_a_crash_is_a_problem(tmp_path: Path) -> None:
    assert problems(program(tmp_path, ERROR), outcome(crashed="the process died"))


def test_missing_torch_xla_is_said_clearly(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\necho \'{"ready": false, "reason": "No module named torch_xla"}\'\n')
    python.chmod(0o755)
    pool = Pool(size=1, python=str(python))
    with pytest.raises(NoTorchXla, match="XLAMIG_NO_EVIDENCE=1"):
        pool.outcome(Request(tmp_path / "any.py"))
