"""A loop leaves another tensor for its next iteration, or only takes one apart by an option."""

from __future__ import annotations

import pytest

from xlamig.facts import StepBoundary

from .said import facts

PAIRS = """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--use_gpu", action="store_true")
opt = parser.parse_args()
net = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
if opt.use_gpu:
    net.cuda()
kept = []
for i, file in enumerate(files):
    one = torch.rand(1, 4)
    if opt.use_gpu:
        one = one.cuda()
    for other in files[i + 1:]:
        two = torch.rand(1, 4)
        if opt.use_gpu:
            two = two.cuda()
        out = net(one - two)
        BODY
"""


def loops(body: str) -> list[tuple[str, str]]:
    found = facts(PAIRS.replace("BODY", body.replace("\n", "\n        ")))
    return [(fact.loop, fact.boundary) for fact in found if isinstance(fact, StepBoundary)]


@pytest.mark.parametrize("body", ["kept.append(out.sum().item())", "print('%.3f' % out.sum())"])
def test_a_tensor_that_an_option_moves_is_the_same_after_each_iteration(body: str) -> None:
    assert loops(body) == [("evaluation", "read")]


@pytest.mark.parametrize(
    "change", ["one = out", "one += out", "one.add_(out)", "one[:] = out", "(one, b) = out, 1"]
)
def test_a_tensor_that_the_loop_changes_is_another(change: str) -> None:
    assert [loop for loop, _ in loops(f"{change}\nprint(out.sum().item())")] == ["decoding"]


def test_keeps_what_no_read_is_of() -> None:
    assert loops("kept.append(out)\nprint((one - two).sum().item())") == [("evaluation", "part")]
