"""Every fixture program does on real torch_xla what its head says."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import pytest
from tests.fixtures.programs import Program, programs

from .judge import problems
from .pool import Pool, Request

pytestmark = pytest.mark.evidence

Run = tuple[Program, Request]


def runs() -> list[Run]:
    found: list[Run] = []
    for program in programs():
        if program.run != "static-only":
            trace = program.run == "trace"
            found.append((program, Request(program.path, program.calls, program.args, trace)))
        if program.portable:
            found.append((replace(program, run="clean"), Request(program.path, args=program.args, xla=False)))
    return found


def name(run: Run) -> str:
    program, request = run
    return program.id if request.xla else f"{program.id} on plain torch"


@pytest.mark.parametrize("run", runs(), ids=name)
def test_program_does_what_it_claims(pool: Pool, run: Run) -> None:
    program, request = run
    found = problems(program, pool.outcome(request))
    if found:
        # Ports, rendezvous and threads of torch fail now and then: what fails twice is wrong.
        warnings.warn(f"{program.id} failed once:\n" + "\n".join(found), stacklevel=1)
        found = problems(program, pool.again(request))
    if found:
        pytest.fail("\n".join(found), pytrace=False)


def test_one_program_leaves_nothing_behind_for_the_next(pool: Pool, tmp_path: Path) -> None:
    source = (
        "import os, torch, torch_xla\n"
        "assert torch.get_default_dtype() == torch.float32 and 'LEFT' not in os.environ\n"
        "torch.set_default_dtype(torch.float64); os.environ['LEFT'] = '1'\n"
        "assert torch.ones(2, device=torch_xla.device()).sum().item() == 2\n"
    )
    for number in range(3):
        path = tmp_path / f"p{number}.py"
        path.write_text(source)
        attempts = pool.outcome(Request(path))["attempts"]
        assert [attempt["error"] for attempt in attempts] == [None]


def test_a_program_that_dies_is_reported(pool: Pool, tmp_path: Path) -> None:
    path = tmp_path / "dies.py"
    path.write_text("import os; os.kill(os.getpid(), 9)\n")
    assert pool.outcome(Request(path))["crashed"] == "the process died"


def test_plain_torch_has_no_torch_xla(pool: Pool, tmp_path: Path) -> None:
    path = tmp_path / "plain.py"
    path.write_text("import importlib.util as u; assert u.find_spec('torch_xla') is None; import torch_xla\n")
    assert pool.outcome(Request(path, xla=False))["attempts"][0]["error"]["type"] == "ModuleNotFoundError"
