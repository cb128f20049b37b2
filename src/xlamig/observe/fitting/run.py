"""A whole `fit`: capture, compile for each chip, and look for the largest batch."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from xlamig.fits import Capture, Compiled, Fit, Graph, GraphFit, LargestBatch
from xlamig.observe.fitting import batch, capture, ends, saved
from xlamig.observe.fitting.compiling import Compiler, Target, compile_graph
from xlamig.observe.fitting.ends import FitError
from xlamig.observe.program import LaunchError, Program

Say = Callable[[str], None]
_BYTECODE = b"ML\xefR"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """`versions` are those of jax and libtpu; `save` is a folder for the graphs; `sizes` are further
    values of the argument `batch`."""

    targets: tuple[Target, ...]
    asked: capture.Asked
    compiler: Compiler
    versions: str
    save: Path | None = None
    batch: str = ""
    sizes: tuple[int, ...] = ()
    largest: bool = False


def fit(program: Program, question: Question, say: Say) -> Fit:
    """Raises LaunchError and FitError."""
    name = " ".join((*(("-m",) if program.module else ()), program.target, *program.arguments))
    with _Captures(program, question, say) as captures:
        if not question.sizes:
            found = captures.plain()
            graphs = [GraphFit(graph, captures.compile_all(graph)) for graph in found.graphs]
        else:
            steps = [(captures.of(size).graphs[0], size) for size in question.sizes]
            found = captures.of(question.sizes[0])
            graphs = [GraphFit(graph, captures.compile_all(graph), size) for graph, size in steps]
        if question.save is not None:
            keep([one.graph for one in graphs], question.save)
        largest = tuple(_largest(target, captures) for target in question.targets) if question.largest else ()
    return Fit(name, found, tuple(graphs), question.versions, largest)


class _Captures:
    """The program's graphs for each value of the batch argument, captured and compiled once."""

    def __init__(self, program: Program, question: Question, say: Say) -> None:
        self.program, self.question, self.say = program, question, say
        self.argument = batch.find(program.arguments, question.batch) if question.batch else None
        self.found: dict[int | None, Capture] = {}
        self.results: dict[tuple[str, Target], Compiled] = {}
        self.folder = tempfile.TemporaryDirectory(prefix="xlamig-fit-")

    def __enter__(self) -> _Captures:
        return self

    def __exit__(self, *error: object) -> None:
        self.folder.cleanup()

    def plain(self) -> Capture:
        return self.of(self.argument.value) if self.argument else self._of(None, self.program)

    def of(self, size: int) -> Capture:
        """Raises LaunchError, and FitError that names the size."""
        assert self.argument is not None
        try:
            return self._of(size, self.argument.program(self.program, size))
        except FitError as error:
            raise FitError(f"{self.argument.name} {size}: {error}", error.end) from error

    def _of(self, size: int | None, program: Program) -> Capture:
        if size not in self.found:
            self.say("running the program without executing its graphs" + (f", {size}" if size else ""))
            inside = Path(self.folder.name, str(size))
            inside.mkdir()
            self.found[size] = capture.capture(program, self.question.asked, inside)
        return self.found[size]

    def compile_all(self, graph: Graph) -> tuple[Compiled, ...]:
        return tuple(self.compile(graph, target) for target in self.question.targets)

    def compile(self, graph: Graph, target: Target) -> Compiled:
        key = graph.file, target
        if key not in self.results:
            self.results[key] = _compile(graph, target, self.question, self.say)
        return self.results[key]


def fit_saved(path: Path, question: Question, say: Say) -> Fit:
    """For a graph that was kept."""
    graph = load(path)
    found = Capture((graph,), 0, 1, "")
    compiled = tuple(_compile(graph, target, question, say) for target in question.targets)
    return Fit(str(path), found, (GraphFit(graph, compiled),), question.versions)


def _compile(graph: Graph, target: Target, question: Question, say: Say) -> Compiled:
    say(f"compiling the {graph.kind} for {target.label}")
    return compile_graph(graph, target, question.compiler)


def _largest(target: Target, captures: _Captures) -> LargestBatch:
    argument, say = captures.argument, captures.say
    assert argument is not None

    def fits(size: int) -> bool:
        if size < target.devices:
            return False
        found = captures.compile(captures.of(size).graphs[0], target)
        problem = found.problem
        if problem and problem.kind != "out of memory":
            where = f"{target.label}, {argument.name} {size}"
            raise FitError(f"{where}: {problem.message}", ends.of((found,)))
        say(f"{target.label}: {argument.name} {size} {'fits' if found.fits else 'does not fit'}")
        return found.fits

    bounds = batch.largest(fits, argument.value, target.devices)
    return LargestBatch(target.chip.key, target.chips, target.layout, argument.name, *bounds)


def keep(graphs: Sequence[Graph], folder: Path) -> None:
    """Each graph's StableHLO, and beside it what its arguments are for."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, graph in enumerate(graphs):
        path = folder / f"{'step' if number == 0 else f'graph-{number}'}.mlirbc"
        shutil.copyfile(graph.file, path)
        saved.write(graph, path)


def load(path: Path) -> Graph:
    """Raises LaunchError for what is no graph."""
    if not path.is_file():
        raise LaunchError(f"no such file: {path}")
    code = path.read_bytes()
    if not code.startswith(_BYTECODE) and b"func.func" not in code:
        raise LaunchError(f"{path} is no StableHLO module")
    return saved.read(path)
