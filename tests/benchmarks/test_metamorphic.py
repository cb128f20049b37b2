"""Rewrites keep what a program does, and with it its findings."""

from __future__ import annotations

import ast
from pathlib import Path
from textwrap import dedent

import pytest

from benchmarks.metamorphic.__main__ import difference
from benchmarks.metamorphic.rewrites import HELPERS, MAIN, rewrites

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
KINDS = {"branches", "variable", "import", "split", "start"}


def test_every_kind_of_rewrite_applies() -> None:
    assert {made.kind for made in rewrites(PROGRAM)} == KINDS


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
    (made,) = [made for made in rewrites(PROGRAM) if made.kind == "branches"]
    new = made.files[MAIN].split("\n")
    assert new[4:8] == [
        "    if not (verbose):",
        "        shown = float(loss)",
        "    else:",
        "        shown = loss.item()",
    ]
    assert made.rows[(MAIN, 6)] == 8


def test_functions_move_and_are_imported() -> None:
    (made,) = [made for made in rewrites(PROGRAM) if made.kind == "split"]
    assert made.files[MAIN].startswith("from moved_helpers import read, train\n")
    assert "def train" in made.files[HELPERS] and "def train" not in made.files[MAIN]


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_findings_stay_the_same(kind: str, tmp_path: Path) -> None:
    for made in rewrites(PROGRAM):
        if made.kind == kind:
            lost, added = difference(PROGRAM, made)
            assert (lost, added) == ({}, {}), made.what
