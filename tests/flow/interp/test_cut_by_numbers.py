"""Loops that index a tensor of the device by a Python number, in which a boundary alone compiles often."""

from __future__ import annotations

import pytest

from xlamig.facts import StepBoundary

from .said import facts

PROGRAM = """
@torch.no_grad()
def generate(model, frames, names):
    model = model.to("cuda")
    frames, x = frames.to("cuda"), torch.zeros(4, 8, device="cuda")
    sound = []
    for LOOP:
        x = model(FRAME, x)
        sound.append(x)
    return sound

generate(nn.GRUCell(8, 8), torch.zeros(4, 9, 8), ["a", "b"])
"""


def cut(loop: str, frame: str) -> list[str]:
    found = facts(PROGRAM.replace("LOOP", loop).replace("FRAME", frame))
    return [fact.cut for fact in found if isinstance(fact, StepBoundary)]


@pytest.mark.parametrize(
    ("loop", "frame"),
    [
        ("frame in frames.unbind(1)", "frame"),
        ("i, frame in enumerate(frames.unbind(1))", "frame"),
        ("i in range(9)", "frames[:, 0]"),
        ("i in range(9)", "frames[:, 0] + i"),
        ("i in range(9)", "embed(names[i])"),
        ("i in torch.arange(9, device='cuda')", "frames.index_select(1, i.view(1))[:, 0]"),
    ],
)
def test_leaves_other_loops(loop: str, frame: str) -> None:
    assert cut(loop, frame) == [""]


@pytest.mark.parametrize(
    ("loop", "frame"),
    [
        ("i in range(9)", "frames[:, i]"),
        ("i in range(9)", "frames[:, i : i + 1].squeeze(1)"),
        ("i, name in enumerate(names)", "frames[:, i]"),
    ],
)
def test_names_the_tensor_that_a_number_indexes(loop: str, frame: str) -> None:
    assert cut(loop, frame) == ["frames"]
