from __future__ import annotations

import pytest

from .said import facts

TWO = """
class One(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.zeros(1))
        self.scale.slow = True

class Other(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.zeros(1))
        self.scale.slow = True

def main(name):
    if name == "one":
        model = One()
    else:
        model = Other()
    model.cuda()

main(input())
"""


OF_PARTS = (
    TWO.replace("class One(", "class InOne(").replace("class Other(", "class InOther(").split("def main")[0]
    + """
class One(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = InOne()

class Other(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = InOther()
"""
    + "\ndef main"
    + TWO.split("def main")[1]
)


@pytest.mark.parametrize("text", [TWO, OF_PARTS])
def test_of_two_classes_the_same_one_is_named_in_every_run(text: str) -> None:
    """A set of classes is ordered by their addresses: keep what each run makes, so that they differ."""
    kept: list[object] = []
    related = set()
    for count in range(30):
        (move,) = [fact for fact in facts(text) if fact.kind == "module-move"]
        related.add(move.related)
        kept.append([object() for _ in range(count)])
    assert len(related) == 1


AGENT = """
class Learner(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(4, 2)
    def parameters(self):
        return self.head.parameters()

class Agent(nn.Module):
    def __init__(self, frozen):
        super().__init__()
        self.learner = Learner()
        self.frozen = frozen

"""
OPTIMIZER = "optimizer = torch.optim.Adam(agent.learner.parameters())\n"


@pytest.mark.parametrize(
    "program",
    [
        f"agent = Agent(nn.Linear(4, 2))\nagent.cuda()\n{OPTIMIZER}",  # made after the move
        f"agent = Agent(nn.Linear(4, 2))\n{OPTIMIZER}other = nn.Linear(4, 2)\nother.cuda()\n",
    ],
)
def test_a_move_that_no_optimizer_sees_is_silent(program: str) -> None:
    assert not [fact for fact in facts(AGENT + program) if fact.kind == "module-move"]


def test_an_optimizer_holds_the_parameters_of_parts_at_any_depth() -> None:
    program = f"{AGENT}agent = Agent(nn.Linear(4, 2))\n{OPTIMIZER}agent.cuda()\n"
    assert [fact.via for fact in facts(program) if fact.kind == "module-move"] == ["optimizer"]
