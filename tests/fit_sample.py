"""Fits as the compiler answered: a step that fits a TPU v5e, and one that does not."""

from __future__ import annotations

import json
from pathlib import Path

from xlamig.fits import Capture, Compiled, Fit, Graph, GraphFit, LargestBatch
from xlamig.knowledge.hardware import load
from xlamig.observe.fitting import compiling, saved

RECORDED = Path(__file__).parent / "observe" / "compiled"
V5E = load().tpus["v5e"]


def graph(name: str) -> Graph:
    return saved.read(RECORDED / name / "step.mlirbc")


def compiled(name: str) -> Compiled:
    """From libtpu 0.0.52, recorded with what it dumped."""
    folder = RECORDED / name
    plain = Compiled("v5e", 1, 1, "one chip", round(15.75 * (1 << 30)))
    raw = json.loads((folder / "result.json").read_text())
    return compiling.read(raw, plain, graph(name), compiling.Target(V5E), folder)


def fit(*names: str) -> Fit:
    graphs = tuple(GraphFit(graph(name), (compiled(name),)) for name in names)
    spot = graphs[0].graph.spot
    capture = Capture(
        tuple(one.graph for one in graphs), 4, 2, "2.9.0", ((spot, 3),), ((spot, "aten::median", 4),),
        (("Tensor.cuda", 2),),
    )  # fmt: skip
    largest = (LargestBatch("v5e", 1, "one chip", "batch_size", 64, 72),)
    return Fit("small.py", capture, graphs, "jax 0.10.2, libtpu 0.0.52", largest)
