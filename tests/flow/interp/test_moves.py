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


HOLDER = """
class Held(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.zeros(1))
        self.z = torch.zeros(1, requires_grad=True)
        self.ws = nn.ParameterList([nn.Parameter(torch.zeros(1))])

    def parameters(self):
        return self.ws

    def optimizer(self):
        return torch.optim.SGD([self.w], lr=0.1)

class Builds(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = Held()
        self.opt = torch.optim.SGD(GIVEN, lr=0.1)

"""
OWN = "self.net.parameters()"


def optimizers_left_behind(body: str, given: str = OWN) -> int:
    found = facts(HOLDER.replace("GIVEN", given) + body)
    return sum(fact.kind == "module-move" and fact.via == "optimizer" for fact in found)


@pytest.mark.parametrize(
    "body",
    [
        "held = Held().cuda()\nopt = torch.optim.SGD([held.w], lr=0.1)\n",
        "held = Held().cuda()\nopt = torch.optim.SGD(held.ws, lr=0.1)\n",
        "held = Held().cuda()\nopt = torch.optim.SGD(held.parameters(), lr=0.1)\n",
        "held = Held()\nheld.cuda()\nopt = held.optimizer()\n",
        "held = Held()\nopt = torch.optim.SGD([held.z], lr=0.1)\nheld.cuda()\n",  # no parameter: it stays
        "held, other = Held(), nn.Linear(1, 1)\nopt = torch.optim.SGD([held.w], lr=0.1)\nother.cuda()\n",
        "held = Held()\nopt = torch.optim.SGD([held.w], lr=0.1)\nheld.to(torch.bfloat16)\n",
    ],
)
def test_parameters_given_one_by_one_stay_with_a_module_on_the_device(body: str) -> None:
    assert optimizers_left_behind(body) == 0


@pytest.mark.parametrize(
    ("body", "given"),
    [
        ("held = Held()\nopt = torch.optim.SGD([held.w], lr=0.1)\nheld.cuda()\n", OWN),
        ("held = Held()\nopt = torch.optim.SGD([{'params': [held.w]}], lr=0.1)\nheld.cuda()\n", OWN),
        ("held = Held()\nopt = torch.optim.SGD(held.ws, lr=0.1)\nheld.cuda()\n", OWN),
        ("held = Held()\nopt = torch.optim.SGD(held.parameters(), lr=0.1)\nheld.cuda()\n", OWN),
        ("held = Held()\nopt = held.optimizer()\nheld.cuda()\n", OWN),
        ("model = Builds().cuda()\n", OWN),
        ("model = Builds().cuda()\n", "[self.net.w]"),
        ("model = Builds().cuda()\n", "self.net.ws"),
    ],
)
def test_parameters_given_one_by_one_are_left_behind_by_a_move(body: str, given: str) -> None:
    assert optimizers_left_behind(body, given) == 1
