"""Graphs that are captured from real programs on torch_xla: nothing is executed, every buffer is known."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from xlamig.fits import Capture, Compiled, Graph, Layout
from xlamig.knowledge.hardware import load
from xlamig.observe import interpreters
from xlamig.observe.fitting import compiling, hlo
from xlamig.observe.fitting.capture import Asked, capture
from xlamig.observe.fitting.ends import End, FitError
from xlamig.observe.program import Program

pytestmark = pytest.mark.evidence

TRAINING = """\
import torch, torch_xla
device = torch_xla.device()
wide = 1 << 16
with torch.device("meta"):
    model = torch.nn.Sequential(torch.nn.Linear(wide, wide), torch.nn.Dropout(), torch.nn.Linear(wide, 16))
model.to_empty(device=device)  # 16 GiB, which this machine need not have
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(9):
    x = torch.zeros(8, wide).to(device)
    loss = model(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    torch_xla.sync()
    print(loss.item())
"""
UNENDED = TRAINING.replace("    torch_xla.sync()\n", "")
CHANGING_STEPS = TRAINING.replace("torch.zeros(8,", "torch.zeros(8 + _,")
SHORT = TRAINING.replace("range(9)", "range(2)")
FAILING = TRAINING.replace("    loss.backward()\n", "    raise KeyError('lost')\n")
CUDA = (
    TRAINING.replace("import torch, torch_xla", "import torch")
    .replace("torch_xla.device()", "torch.device('cuda')")
    .replace("    torch_xla.sync()\n", "    if loss > 10 or torch.isnan(loss): raise ValueError(loss)\n")
)
FALLING_BACK = """\
import torch, torch_xla
device = torch_xla.device()
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.bag = torch.nn.EmbeddingBag(100, 16, mode="sum")
        self.conv = torch.nn.Conv2d(1, 4, 3, padding=1)
    def forward(self, words, image):
        vector = self.bag(words, torch.zeros(1, dtype=torch.long, device=words.device))
        image = torch.nn.functional.interpolate(self.conv(image), scale_factor=2)
        image[image < 0] = 0.0
        vector = vector[vector > 0]
        return vector.median() + vector.sum() + image.square().mean()
model = Model().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(9):
    loss = model(torch.zeros(6, dtype=torch.long).to(device), torch.zeros(2, 1, 8, 8).to(device))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    torch_xla.sync()
"""
READING = """\
import torch, torch_xla
device = torch_xla.device()
model = torch.nn.Linear(4, 4).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(9):
    with torch.no_grad():
        x = torch.zeros(1, 4).to(device)
        for _ in range(40):
            x = torch.cat((x, model(x[-1:])))  # a different graph each time
            if x.sum() > 9: break
    loss = model(torch.zeros(8, 4).to(device)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    torch_xla.sync()
"""
SAMPLING = """\
import torch, torch_xla
device = torch_xla.device()
model = torch.nn.Linear(4, 4).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(9):
    with torch.no_grad():
        x = torch.zeros(1, 4).to(device)
        for _ in range(100):
            y = model(x[-1:])
            y[y < 0] = 0.0  # reads the mask
            x = torch.cat((x, y))
        pending = torch_xla._XLAC._get_xla_tensors_text([x]).count("\\n")
        assert pending < 600, f"{pending} operators are pending"
    loss = model(torch.zeros(8, 4).to(device)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    torch_xla.sync()
"""
EVALUATION = """\
    with torch.no_grad():
        print(model(torch.ones(32, wide).to(device)).sum().item())
"""
EVALUATING = TRAINING.replace("wide = 1 << 16", "wide = 64").replace("    x = ", f"{EVALUATION}    x = ")
COMPILER = interpreters.examine(interpreters.KINDS["fit"])
needs_libtpu = pytest.mark.skipif(not COMPILER.is_ready, reason=COMPILER.error)


def captured(text: str, folder: Path, **asked: Any) -> Capture:
    path = folder / "train.py"
    path.write_text(text)
    graphs = folder / "graphs"
    graphs.mkdir()
    return capture(Program(target=str(path), python=sys.executable), Asked(**asked), graphs)


def test_the_arguments_of_a_step_are_exact_and_donated(tmp_path: Path) -> None:
    found = captured(TRAINING, tmp_path)
    step = found.graphs[0]
    parameters = 4 * ((1 << 32) + (1 << 16) + (1 << 20) + 16)
    assert step.kind == "training step" and step.count == 3
    assert step.bytes_of("parameter") == parameters
    assert step.bytes_of("optimizer") == 2 * parameters
    assert step.bytes_of("input") == 4 * 8 * (1 << 16)
    assert {one.name for one in step.arguments if one.role == "parameter"} == {
        "0.weight", "0.bias", "2.weight", "2.bias",
    }  # fmt: skip
    held = [one for one in step.arguments if one.role in ("parameter", "optimizer")]
    assert all(one.output is not None for one in held)
    assert len({one.output for one in held}) == len(held)
    assert Path(step.file).stat().st_size > 1000
    assert [count for _, count in found.reads] == [3]


VIEWS = """\
import sys, torch, torch_xla
device = torch_xla.device()
model = torch.nn.Sequential(torch.nn.Linear(6, 5), torch.nn.ReLU(), torch.nn.Linear(5, 3)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for _ in range(5):
    x = torch.zeros(4, 6).to(device)
    loss = model(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    torch_xla.sync()
"""


def test_arguments_results_and_donations_are_those_that_torch_xla_compiles(tmp_path: Path) -> None:
    step = captured(VIEWS, tmp_path).graphs[0]
    flags = f"--xla_dump_to={tmp_path / 'dump'} --xla_dump_hlo_as_text"
    subprocess.run([sys.executable, tmp_path / "train.py"], check=True, env=os.environ | {"XLA_FLAGS": flags})
    module = sorted((tmp_path / "dump").glob("*SyncTensors*.before_optimizations.txt"))[-1]
    head = module.read_text().partition("\n")[0]
    given, _, results = head.partition("entry_computation_layout={")[2].partition("->")
    assert [one.shape for one in step.arguments] == [dims for _, dims in hlo.arrays(given)]
    assert [one.shape for one in step.outputs] == [dims for _, dims in hlo.arrays(results)]
    donors = re.findall(r"\((\d+), \{\}\)", head.partition("entry")[0])
    assert [n for n, one in enumerate(step.arguments) if one.output is not None] == list(map(int, donors))


def compiled(step: Graph, chips: int = 1, layout: Layout = "one chip") -> Compiled:
    assert COMPILER.found
    target = compiling.Target(load().tpus["v5e"], chips, layout)
    return compiling.compile_graph(step, target, compiling.Compiler(python=COMPILER.found.python))


@needs_libtpu
def test_a_step_compiles_with_its_buffers_donated(tmp_path: Path) -> None:
    found = compiled(captured(VIEWS, tmp_path).graphs[0])
    forward = 2 * 4 * (6 * 5 + 5 * 3)
    assert found.fits and found.flops == forward + forward + 2 * 4 * 5 * 3  # the batch has no gradient
    assert found.memory and found.memory.aliased > 0


@needs_libtpu
def test_a_result_with_the_batch_stays_divided_over_the_chips(tmp_path: Path) -> None:
    text = VIEWS.replace("torch.zeros(4, 6)", "torch.zeros(4096, 6)").replace(
        "loss = model(x).square()", "y = model(x)\n    loss = y.square()"
    )
    step = captured(text, tmp_path).graphs[0]
    assert any(one.shape == (4096, 3) for one in step.outputs)
    found = compiled(step, 8, "data parallel")
    assert found.fits and {one.name for one in found.collectives} == {"all-reduce"}
    assert found.memory and found.memory.outputs < 4096 * 3 * 4


@needs_libtpu
def test_a_step_that_is_too_large_is_reported_with_its_largest_buffers(tmp_path: Path) -> None:
    found = compiled(captured(TRAINING, tmp_path).graphs[0])
    assert found.problem and found.problem.kind == "out of memory"
    assert found.problem.needed and found.problem.needed > 3 * (1 << 34)  # the weight and AdamW's state
    assert any(one.name == "0.weight" and one.bytes == 1 << 34 for one in found.buffers)


@pytest.mark.parametrize("dtype", ["", "bfloat16"])
def test_autocast_casts_in_the_graph(dtype: str, tmp_path: Path) -> None:
    step = captured(VIEWS, tmp_path, dtype=dtype).graphs[0]
    assert {one.dtype for one in step.arguments if one.shape} == {"float32"}
    assert len([one for one in step.arguments if one.role == "input"]) == 1


def test_an_evaluation_is_captured_with_its_parameters(tmp_path: Path) -> None:
    found = captured(EVALUATING, tmp_path)
    assert [one.kind for one in found.graphs] == ["training step", "evaluation"]
    evaluation = found.graphs[1]
    assert evaluation.bytes_of("parameter") == found.graphs[0].bytes_of("parameter")
    assert evaluation.count == 3 and not any(one.output is not None for one in evaluation.arguments)


def test_a_cuda_program_is_captured_as_it_is(tmp_path: Path) -> None:
    found = captured(CUDA, tmp_path, as_cuda=True)
    assert found.graphs[0].bytes_of("input") == 4 * 8 * (1 << 16)
    assert dict(found.redirected)["torch_xla.sync() after Optimizer.step"] == 4


def test_operators_that_a_kernel_hands_to_the_cpu_are_told_and_in_no_graph(tmp_path: Path) -> None:
    found = captured(FALLING_BACK, tmp_path)
    assert found.graphs[0].count >= 3
    assert {name for _, name, _ in found.fallbacks} >= {
        "aten::_embedding_bag", "aten::_embedding_bag_backward", "aten::median",
    }  # fmt: skip
    rows = {spot.row for spot, _ in found.reads if spot}
    assert {11, 12} <= rows  # the masks
    inputs = [one.shape for one in found.graphs[0].arguments if one.role == "input"]
    assert (100, 16) in inputs  # the gradient that the CPU would give


@pytest.mark.parametrize(("mode", "factor", "inside"), [
    ("nearest", 2, True), ("bilinear", 3, True), ("nearest", 1.5, False),
])  # fmt: skip
def test_the_gradient_of_an_upsampling_is_in_the_graph(
    mode: str, factor: float, inside: bool, tmp_path: Path
) -> None:
    text = FALLING_BACK.replace("scale_factor=2", f"scale_factor={factor}, mode='{mode}'")
    found = captured(text, tmp_path)
    operator = f"aten::upsample_{mode}2d_backward"
    assert (operator in {name for _, name, _ in found.fallbacks}) is not inside
    gradients = [one for one in found.graphs[0].arguments if one.shape == (2, 4, 8, 8)]
    assert bool(gradients) is not inside


def test_blocks_are_summed_as_torch_does() -> None:
    import torch

    from xlamig.observe.inside.staging.fallbacks import as_on_tpu

    backward = torch.ops.aten.upsample_nearest2d_backward.default
    given = torch.rand(2, 3, 8, 12), [8, 12], [2, 3, 4, 4]
    torch.testing.assert_close(as_on_tpu(backward, given, {}), backward(*given))


def test_reads_that_never_repeat_leave_room_for_the_steps(tmp_path: Path) -> None:
    found = captured(READING, tmp_path)
    assert found.graphs[0].kind == "training step" and found.graphs[0].count >= 3


def test_a_loop_that_samples_through_a_mask_does_not_grow_without_an_end(tmp_path: Path) -> None:
    found = captured(SAMPLING, tmp_path)
    assert found.failure is None and found.graphs[0].count >= 3


@pytest.mark.parametrize(
    ("text", "end", "said"),
    [
        (UNENDED, End.NO_BOUNDARY, "never ends a step"),
        (CHANGING_STEPS, End.CHANGING, "different in each of the 4 steps"),
        (SHORT, End.ENDED_EARLY, "after 2 step"),
        (FAILING, End.ENDED_EARLY, "KeyError"),
        ("import torch\n", End.NO_BOUNDARY, "--as-cuda"),
    ],
    ids=["no boundary", "changing", "short", "failing", "no torch_xla"],
)
def test_a_program_without_a_steady_step_says_why(text: str, end: End, said: str, tmp_path: Path) -> None:
    with pytest.raises(FitError, match=said) as raised:
        captured(text, tmp_path)
    assert raised.value.end == end
