"""A graph on disk: StableHLO, and in a file beside it what its arguments are and which lines it names."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from xlamig.fits import Argument, Graph
from xlamig.observations import Spot


def write(graph: Graph, path: Path) -> None:
    _beside(path).write_text(json.dumps(asdict(graph)), encoding="utf-8")


def read(path: Path) -> Graph:
    """Without the file beside it nothing is donated, and no line has a name."""
    beside = _beside(path)
    if not beside.is_file():
        return Graph("saved graph", None, 1, (), (), str(path))
    raw = json.loads(beside.read_text(encoding="utf-8"))
    return Graph(
        raw["kind"],
        raw["spot"] and Spot(**raw["spot"]),
        raw["count"],
        tuple(Argument(**one | {"shape": tuple(one["shape"])}) for one in raw["arguments"]),
        tuple(Argument(**one | {"shape": tuple(one["shape"])}) for one in raw["outputs"]),
        str(path),
        tuple(site and Spot(**site) for site in raw["sites"]),
    )


def _beside(path: Path) -> Path:
    return path.with_suffix(".json")
