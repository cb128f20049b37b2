"""The numbers of the effort model. Change one, raise MODEL_VERSION."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xlamig.findings import Applicability, Confidence, Level, Mechanism, Phase

MODEL_VERSION = "4"


@dataclass(frozen=True, slots=True)
class Anchor:
    """Minutes: `offset` once for all rules of a group, `per_site` for the first site of a rule."""

    offset: float
    per_site: float


ANCHORS: Mapping[Level, Anchor] = {  # least work first
    "info": Anchor(0, 0),
    "trivial": Anchor(10, 1.5),
    "simple": Anchor(20, 5),
    "complex": Anchor(45, 20),
    "redesign": Anchor(120, 60),
    "unknown": Anchor(240, 120),
    "rearchitect": Anchor(480, 480),
}
LARGE: frozenset[Level] = frozenset({"redesign", "unknown", "rearchitect"})
BLOCKING: frozenset[Level] = frozenset({"unknown", "rearchitect"})

CHANCE: Mapping[Confidence, float] = {"certain": 1.0, "likely": 0.8, "possible": 0.4}

# Optimistic and pessimistic, as a multiple of the likely value.
SPREAD: Mapping[Confidence, tuple[float, float]] = {
    "certain": (0.5, 2.0),
    "likely": (0.4, 2.5),
    "possible": (0.3, 4.0),
}
UNKNOWN_SPREAD = (0.25, 4.0)
CORRELATED = 0.25  # however many terms there are, the total is no surer than this

CREDITED: tuple[Applicability, ...] = ("safe", "unsafe")

DOMINANT_SITES = 10

STACKS = frozenset({"stacks", "frameworks", "sharding"})  # groups of rules about whole stacks

# Lines deleted plus lines added in a class or function at the top of a file that has such a site. 30
# was fitted to real ports, which had too little of the three large levels: docs/research/effort.md.
LINES: Mapping[Level, float] = {
    "info": 0,
    "trivial": 30,
    "simple": 30,
    "complex": 30,
    "redesign": 40,
    "unknown": 40,
    "rearchitect": 80,
}
PYTHON = (".py", ".pyi", ".ipynb")  # elsewhere no port was counted, and each site is a further one
LINES_SPREAD = (0.25, 3.0)  # of 50 ports, 40 changed that many: docs/research/effort.md

PHASES: Mapping[Phase, str] = {
    "run": "Make it run",
    "correct": "Make it correct",
    "scale": "Make it scale",
    "fast": "Make it fast",
}
FAMILIES: Mapping[str, str] = {
    "XLA0": "Device and CUDA API",
    "XLA1": "Host synchronisation",
    "XLA2": "Data-dependent shapes",
    "XLA3": "Recompilation",
    "XLA4": "Training step",
    "XLA5": "Operators and dtypes",
    "XLA6": "Custom kernels and packages",
    "XLA7": "Distributed and launch",
    "XLA8": "Precision and compilers",
    "XLA9": "Data, I/O and environment",
}
FIXED_WORK = "Environment, first run on the target, loss parity and profiling"

VERIFY: Mapping[Mechanism, str] = {
    "error": "run one training step on the target: it ends without an exception",
    "wrong-result": "compare the first losses and one checkpoint with the old device, same data and seed",
    "recompile": "count compilations per step: none after the first steps",
    "host-sync": "count device-to-host transfers per step: only those you chose",
    "cpu-fallback": "look for aten:: fallback counters after a few steps: none",
    "slow": "time steps after warm-up, with a wait before the clock is read",
    "api-surface": "run with warnings shown: no deprecation is left",
    "no-op": "check that the setting's purpose is met another way, or delete it",
}
