"""Compiles a graph for a chip in a process of its own, and reads what the compiler made of it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import xlamig
from xlamig.fits import Compiled, Graph, Layout, Memory, Place, Problem, ProblemKind
from xlamig.knowledge.hardware import Accelerator
from xlamig.observations import Spot
from xlamig.observe.fitting import hlo, peak, sharding, work
from xlamig.observe.fitting.sharding import Unshardable
from xlamig.observe.program import LaunchError

_START = (
    "import runpy, sys; sys.path.append(sys.argv.pop(1)); "
    "runpy.run_module('xlamig.observe.inside.compiler', run_name='__main__', alter_sys=True)"
)
_FAST = "EFFORT_O0"
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_NEEDED = re.compile(r"(?:Used|required[^(]*\() ?([\d.]+)([KMGT])")
_FEW_LINES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiler:
    """`python` has jax and libtpu. `thorough` is the compiler's default effort, several times slower."""

    python: str
    timeout: float = 900
    thorough: bool = False


@dataclass(frozen=True, slots=True)
class Target:
    chip: Accelerator
    chips: int = 1
    layout: Layout = "one chip"

    @property
    def label(self) -> str:
        return f"{self.chip.name}, {self.chips} chips, {self.layout}" if self.chips > 1 else self.chip.name

    @property
    def devices(self) -> int:
        """How many a graph is sharded over."""
        return self.chip.compiler.devices * self.chips if self.chip.compiler and self.chips > 1 else 1


def compile_graph(graph: Graph, target: Target, compiler: Compiler) -> Compiled:
    """Never raises for what the compiler says of the graph: that is the result."""
    known = target.chip.compiler
    assert known is not None
    devices = target.devices
    plain = Compiled(target.chip.key, target.chips, devices, target.layout, round(known.gib * (1 << 30)))
    topology = known.topology(target.chips)
    if topology is None:
        message = f"libtpu has no slice of {target.chips} chips"
        return replace(plain, problem=Problem("not sharded", message))
    try:
        shards = sharding.shard(graph, devices, target.layout)
    except Unshardable as error:
        return replace(plain, problem=Problem("not sharded", str(error)))
    with tempfile.TemporaryDirectory(prefix="xlamig-fit-") as name:
        folder = Path(name)
        request = {
            "module": graph.file,
            "topology": topology,
            "devices": devices,
            "arguments": shards.arguments,
            "results": shards.results,
        }
        raw = _run(request, compiler, folder)
        return read(raw, plain, graph, target, folder / "dump")


def _run(request: dict[str, Any], compiler: Compiler, folder: Path) -> dict[str, Any]:
    """The compiler's result; where it aborts with little effort, that of its default effort."""
    options: dict[str, Any] = {"xla_dump_to": str(folder / "dump"), "xla_dump_hlo_as_text": True}
    efforts = ({},) if compiler.thorough else ({"xla_optimization_level": _FAST}, {})
    for effort in efforts:
        raw = _attempt({**request, "options": options | effort}, compiler, folder)
        if raw.get("type") != "abort":
            break
    return raw


def _attempt(request: dict[str, Any], compiler: Compiler, folder: Path) -> dict[str, Any]:
    asked, result = folder / "request.json", folder / "result.json"
    asked.write_text(json.dumps(request))
    package = str(Path(xlamig.__file__).resolve().parents[1])
    command = [compiler.python, "-c", _START, package, str(asked), str(result)]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    try:
        ended = subprocess.run(
            command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            errors="replace", timeout=compiler.timeout, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return {"type": "timeout", "error": f"the compiler did not finish in {compiler.timeout:g} s"}
    except OSError as error:
        raise LaunchError(f"{compiler.python}: {error.strerror}") from error
    if result.is_file():
        found: dict[str, Any] = json.loads(result.read_text())
        return found
    return {"type": "abort", "error": _last_words(ended.stderr, ended.returncode)}


def _last_words(text: str, code: int) -> str:
    """Return the compiler's last message before its process ended."""
    said = [line.strip() for line in text.splitlines() if re.search(r"Check failed|^F\d{4}|Error", line)]
    return said[0] if said else f"the compiler's process ended with {code}"


def read(raw: dict[str, Any], plain: Compiled, graph: Graph, target: Target, dump: Path) -> Compiled:
    """Return the compiler's answer and its dumps, stored in `plain`."""
    sites = graph.sites
    flops, products = work.matmuls(
        hlo.instructions(_lines(dump, "before_optimizations.txt")), sites, target.chip.mxu
    )
    module = list(hlo.instructions(_lines(dump, "after_optimizations.txt")))
    live = _lines(dump, "after_optimizations-live-range.txt")
    assignment = _lines(dump, "after_optimizations-buffer-assignment.txt")
    found = replace(
        plain,
        flops=flops // plain.devices,
        matmuls=products,
        buffers=peak.buffers(live, assignment, module, graph.arguments, sites),
        collectives=work.collectives(module) if plain.devices > 1 else (),
    )
    if "error" in raw:
        return replace(found, problem=_problem(raw, sites))
    sizes = raw["memory"]
    bound, limit = _roofline(found.flops, raw["bytes"], target.chip)
    return replace(
        found,
        compiler_flops=raw["flops"],
        bytes=raw["bytes"],
        bound=bound,
        limit=limit,
        seconds=raw["seconds"],
        memory=Memory(
            sizes["argument"], sizes["output"], sizes["alias"], sizes["temp"], sizes["generated_code"],
            sizes["argument"] + sizes["output"] + sizes["temp"] + sizes["generated_code"] - sizes["alias"],
        ),
    )  # fmt: skip


def _roofline(flops: int, traffic: float | None, chip: Accelerator) -> tuple[float, Any]:
    """The shortest time for one device, in seconds, and what takes it."""
    devices = chip.compiler.devices if chip.compiler else 1
    computing = flops * devices / (chip.bf16_tflops * 1e12)
    moving = (traffic or 0) * devices / (chip.hbm_gbps * 1e9)
    return max(computing, moving), "MXU" if computing >= moving else "HBM"


def _problem(raw: dict[str, Any], sites: Sequence[Spot | None]) -> Problem:
    message = raw["error"].strip()
    kinds: dict[str, ProblemKind] = {"abort": "aborted", "timeout": "timeout"}
    kind = kinds.get(raw["type"], "out of memory" if "RESOURCE_EXHAUSTED" in message else "refused")
    needed = _NEEDED.search(message) if kind == "out of memory" else None
    size = round(float(needed[1]) * _UNITS[needed[2]]) if needed else None
    short = " ".join(message.splitlines()[:_FEW_LINES])[:600]
    return Problem(kind, short, _place(message, sites), size)


def _place(message: str, sites: Sequence[Spot | None]) -> Place | None:
    return hlo.place(message + "/", sites)


def _lines(dump: Path, ending: str) -> list[str]:
    """Return the lines of the dump's file with that ending; none if the compiler did not get so far."""
    found = sorted(dump.glob(f"*.{ending}"))
    return found[-1].read_text(errors="replace").splitlines() if found else []
