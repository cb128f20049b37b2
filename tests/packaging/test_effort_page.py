"""The figures of docs/research/effort.md are in its data."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "research" / "effort.md").read_text("utf-8")
PORTS = json.loads((ROOT / "benchmarks" / "effort" / "ports.json").read_text("utf-8"))
HALVES = {
    "seen": PAGE[PAGE.index("## Ports seen") : PAGE.index("## Fresh ports")],
    "fresh": PAGE[PAGE.index("## Fresh ports") :],
}


def rows(half: str) -> dict[str, list[str]]:
    lines = [line.strip("| ").split(" | ") for line in HALVES[half].splitlines() if line.count("|") == 11]
    return {cells[0].removesuffix(" (not complete)"): cells for cells in lines[2:]}


@pytest.mark.parametrize("half", HALVES)
def test_the_page_lists_every_port_with_its_lines(half: str) -> None:
    told = rows(half)
    ports = [port for port in PORTS if port["half"] == half]
    assert sorted(told) == sorted(port["repo"] for port in ports)
    for port in ports:
        cells = told[port["repo"]]
        assert cells[0].endswith("(not complete)") != port["complete"]
        assert int(cells[6]) == port["deleted"] + port["added"] - port["new"]


def test_the_figure_of_the_fresh_ports_follows_from_their_rows() -> None:
    pairs = [(math.log1p(int(cells[7])), math.log1p(int(cells[6]))) for cells in rows("fresh").values()]
    mean = [sum(side) / len(pairs) for side in zip(*pairs, strict=True)]
    moved = [(one - mean[0], real - mean[1]) for one, real in pairs]
    both = sum(one * real for one, real in moved)
    pearson = both / math.sqrt(sum(one**2 for one, _ in moved) * sum(real**2 for _, real in moved))
    assert f"| 17 fresh | **estimate** | {pearson:.2f} |" in PAGE


@pytest.mark.slow
def test_the_bound_that_pairs_give_is_the_one_published() -> None:
    script = ROOT / "benchmarks" / "effort" / "pairs.py"
    run = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    highest = re.findall(r"lines    : \d pairs, .* 95% 0.00 to (\d\.\d\d)", run.stdout)
    assert highest == ["0.76", "0.76"]
    assert "its 95% interval is 0 to 0.76, for two and for six pairs" in PAGE
