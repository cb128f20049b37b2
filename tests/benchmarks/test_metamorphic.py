"""Rewrites keep what a program does, and with it its findings."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from benchmarks.metamorphic.__main__ import difference
from benchmarks.metamorphic.files import HELPERS
from benchmarks.metamorphic.program import MAIN, Program, Rewritten, same_but_for_names
from benchmarks.metamorphic.rewrites import KINDS, rewrites

PROGRAM = dedent(
    """
    import torch


    def read(loss, verbose):
        if verbose:
            shown = loss.item()
        else:
            shown = float(loss)
        return shown


    def train(model, opt, loader):
        for batch in loader:
            loss = model(batch.cuda()).sum()
            opt.zero_grad()
            loss.backward()
            opt.step()
            print(read(loss, len(batch) > 2))


    net = torch.nn.Linear(2, 2).cuda()
    train(net, torch.optim.SGD(net.parameters(), 0.1), [torch.ones(2, 2)] * 9)
    """
).lstrip()
# Runs anywhere; each rewrite has to print the same.
PLAIN = '''\
"""A program of plain Python."""
from __future__ import annotations

import itertools
import math as maths
from collections import Counter, deque


def scaled(values, factor=2):
    # doubles by default
    total = 0
    for value in values:
        total += value * factor
    average = total / len(values)
    return total, average


def report(label, number=1,
           unit="s"):
    text = f"{label}: {number!r:>{number % 7 + 3}} {unit}"
    print(text)


class Meter:
    def __init__(self, window):
        self.window = window
        self.seen = deque(maxlen=window)

    def update(self, value, weight=1):
        if value is None:
            return self
        elif value < 0:
            value = -value
            sign = -1
        else:
            sign = 1
        with open("log.txt", "a") as log:
            log.write(str(value))
            written = value * weight
        self.seen.append(sign * written)
        pairs = [first + second for first, second in itertools.pairwise(self.seen)]
        last = pairs[-1] if pairs else 0
        self.last = last
        return self

    def mean(self):
        if self.seen:
            result = sum(self.seen) / len(self.seen)
            for item in self.seen:
                result += maths.sqrt(abs(item))
        else:
            result = 0.0
        return result


def main(count):
    meter = Meter(3)
    best = None
    for index in range(count):
        try:
            number = (index - 2) ** 2 - 3
            meter.update(number, weight=index)
        except ValueError as err:
            print(err)
        current = meter.mean()
        if best is None or current > best:
            best = current
        total, average = scaled(
            [number, index],
            factor=3,
        )
        counts = Counter([total, average])
        print(index, best, counts.most_common(1), meter.last)
    report("best", round(best, 3))
    step = lambda x: x + best
    print(step(1) if count > 3 else step(2))
    return best


if __name__ == "__main__":
    main(6)
'''


def test_every_kind_of_rewrite_applies() -> None:
    assert {made.kind for made in rewrites(PLAIN)} == set(KINDS)


def _output(files: dict[str, str], folder: Path) -> str:
    for name, text in files.items():
        (folder / name).write_text(text)
    run = subprocess.run(
        [sys.executable, "-S", MAIN], cwd=folder, capture_output=True, text=True, check=False
    )
    return run.stdout + run.stderr


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_rewritten_program_does_the_same(kind: str, tmp_path: Path) -> None:
    expected = _output({MAIN: PLAIN}, tmp_path)
    assert expected.startswith("0 0.0") and "Error" not in expected
    for made in rewrites(PLAIN):
        if made.kind == kind:
            assert made.files[MAIN] != PLAIN or made.folder
            assert _output(made.files, tmp_path) == expected, made.what


@pytest.mark.parametrize(
    "new", ["x_ = 1\nprint(x)\n", "x_ = 1\nprint(x_.x_)\n", "x_ = 1\nprint(end=x_)\n", "x_ = 1\n"]
)
def test_tells_another_program_from_a_renamed_one(new: str) -> None:
    assert not same_but_for_names(Program("x = 1\nprint(x.x)\n"), new, {"x_": "x"})


def test_a_function_that_reads_an_unbound_name_is_not_extracted() -> None:
    text = "def f(a):\n    if a:\n        b = a\n    print(a, b)\n"
    assert [made.what for made in _of_kind(text, "helper")] == ["lines 3-3 of f"]


@pytest.mark.parametrize(("loop", "carried"), [("for _ in range(9)", True), ("if x", False)])
def test_a_helper_returns_what_the_next_iteration_reads(loop: str, carried: bool) -> None:
    text = f"def f(x):\n    y = 0\n    {loop}:\n        y = y + x\n        print(y)\n    return 0\n"
    calls = [r.files["program.py"] for r in rewrites(text) if r.what == "lines 4-5 of f"]
    assert ["y = extracted_(x, y)" in call for call in calls] == [carried]


def test_a_function_with_two_returns_is_not_inlined() -> None:
    text = "def f(a):\n    if a:\n        return 1\n    return 2\n\n\nx = f(1)\n"
    assert _of_kind(text, "inlined") == []


def _of_kind(text: str, kind: str) -> list[Rewritten]:
    return [made for made in rewrites(text) if made.kind == kind]


def test_a_rewritten_program_is_one() -> None:
    for made in rewrites(PROGRAM):
        for text in made.files.values():
            ast.parse(text)


def test_rows_name_the_same_statement() -> None:
    lines = PROGRAM.split("\n")
    for made in rewrites(PROGRAM):
        if made.kind in ("split", "start"):
            for (name, row), old in made.rows.items():
                assert made.files[name].split("\n")[row - 1 : row] in ([lines[old - 1]], [])


def test_branches_change_places() -> None:
    (made,) = _of_kind(PROGRAM, "branches")
    new = made.files[MAIN].split("\n")
    assert new[4:8] == [
        "    if not (verbose):",
        "        shown = float(loss)",
        "    else:",
        "        shown = loss.item()",
    ]
    assert made.rows[(MAIN, 6)] == 8


def test_functions_move_and_are_imported() -> None:
    (made,) = _of_kind(PROGRAM, "split")
    assert made.files[MAIN].startswith("from moved_helpers import train\n")
    assert "def train" in made.files[HELPERS] and "def train" not in made.files[MAIN]


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_findings_stay_the_same(kind: str, tmp_path: Path) -> None:
    for made in rewrites(PROGRAM):
        if made.kind == kind:
            lost, added = difference(PROGRAM, made)
            assert (lost, added) == ({}, {}), made.what


FIXTURES = Path(__file__).parents[2] / "fixtures"


@pytest.mark.parametrize(
    "name",
    [
        "XLA408/helper/silent.py",
        "XLA712/set-device/silent.py",
        "XLA903/names/bad.py",
        "XLA904/max-length/bad.py",
    ],
)
def test_findings_of_fixtures_stay_the_same(name: str) -> None:
    text = (FIXTURES / name).read_text("utf-8")
    different = {made.kind: made.what for made in rewrites(text) if any(difference(text, made))}
    assert different == {}


def test_a_name_in_a_string_annotation_stays() -> None:
    text = 'from torch import Tensor\n\n\ndef f(x: "list[Tensor]") -> Tensor:\n    return x[0]\n'
    assert _of_kind(text, "import") == []
