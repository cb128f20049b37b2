from __future__ import annotations

import textwrap

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


@pytest.mark.parametrize("given", ["", "params="])
def test_an_optimizer_holds_the_parameters_of_parts_at_any_depth(given: str) -> None:
    optimizer = OPTIMIZER.replace("Adam(", f"Adam({given}")
    program = f"{AGENT}agent = Agent(nn.Linear(4, 2))\n{optimizer}agent.cuda()\n"
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


CONTAINERS = """
net, head = nn.Linear(4, 4), nn.Linear(4, 2)

"""


def lost_in_containers(body: str) -> int:
    found = facts(CONTAINERS + body)
    return sum(fact.kind == "module-move" and fact.via == "optimizer" for fact in found)


@pytest.mark.parametrize(
    "body",
    [
        # two lists hold the same module
        """
        trained, all_ = nn.ModuleList([]), nn.ModuleList([])
        trained.append(net)
        all_.append(net)
        opt = torch.optim.SGD(trained.parameters(), lr=0.1)
        all_.append(head)
        all_.cuda()
        """,
        "opt = torch.optim.SGD(nn.ModuleList([net, head]).parameters(), lr=0.1)\nnet.cuda()\n",
        "opt = torch.optim.SGD(net.parameters(), lr=0.1)\nnn.ModuleList([head, net]).cuda()\n",
        "opt = torch.optim.SGD(net.parameters(), lr=0.1)\nnn.Sequential(net, head).cuda()\n",
        "opt = torch.optim.SGD(net.parameters(), lr=0.1)\nnn.Sequential(nn.Sequential(net), head).cuda()\n",
    ],
)
def test_a_container_moves_what_it_holds(body: str) -> None:
    assert lost_in_containers(textwrap.dedent(body)) == 1


@pytest.mark.parametrize(
    "body",
    [
        "opt = torch.optim.SGD(net.parameters(), lr=0.1)\nnn.ModuleList([head]).cuda()\n",
        "opt = torch.optim.SGD(nn.ModuleList([net]).parameters(), lr=0.1)\nhead.cuda()\n",
        "parts = nn.ModuleList([net, head])\nparts.cuda()\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n",
        "opt = torch.optim.SGD(net.cuda().parameters(), lr=0.1)\nnn.Sequential(head).cuda()\n",
    ],
)
def test_a_container_leaves_other_modules_alone(body: str) -> None:
    assert lost_in_containers(body) == 0


BRANCHES = """
net = nn.Linear(4, 4)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
"""


@pytest.mark.parametrize(
    ("body", "moves"),
    [
        ("if torch.cuda.is_available():\n    net.cuda()\nelse:\n    net.to('xla')\n", 2),
        ("if a:\n    net.cuda()\nelif b:\n    net.to('cuda:1')\nelse:\n    net.to('xla')\n", 3),
        ("if a:\n    net.cuda()\nnet.to('xla')\n", 1),
        ("net.cuda()\nif a:\n    net.to('xla')\nelse:\n    net.to('xla:0')\n", 1),
    ],
)
def test_each_branch_moves_for_itself(body: str, moves: int) -> None:
    found = facts("a, b = input(), input()\n" + BRANCHES + body)
    assert sum(fact.kind == "module-move" and fact.via == "optimizer" for fact in found) == moves


ZOO = "\n".join(
    f"class Net{i}(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    f"        self.fc = nn.Linear({i}, 1)\n\ndef net{i}():\n    return Net{i}()\n"
    for i in range(1, 8)
)
BY_TEST = (
    "def build(name):\n"
    + "".join(f"    if name == '{i}':\n        net = Net{i}()\n" for i in range(1, 8))
    + "    return net\n\nnet = build(input())\n"
)


@pytest.mark.parametrize(
    ("body", "moves"),
    [
        ("opt = torch.optim.SGD(net.parameters(), lr=0.1)\nnet.cuda()\n", 1),
        ("net.cuda()\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n", 0),
        ("opt = torch.optim.SGD(net.parameters(), lr=0.1)\nother = net1()\nother.cuda()\n", 0),
    ],
)
def test_a_module_of_one_of_many_classes_is_known_by_its_call(body: str, moves: int) -> None:
    found = facts(ZOO + BY_TEST + body)
    assert sum(fact.kind == "module-move" and fact.via == "optimizer" for fact in found) == moves


@pytest.mark.parametrize(
    ("body", "called"),
    [
        ("out = net(torch.ones(1, 4))\nnet.cuda()\n", True),
        ("out = net(torch.ones(1, 4))\nnn.ModuleList([net]).cuda()\n", True),
        ("out = nn.Linear(4, 4)(torch.ones(1, 4))\nnet.cuda()\n", False),
        ("net.cuda()\nout = net(torch.ones(1, 4))\n", False),
    ],
)
def test_a_call_before_the_move_holds_the_parameters(body: str, called: bool) -> None:
    (move,) = [fact for fact in facts(BRANCHES + body) if fact.kind == "module-move"]
    assert ("called" in move.proofs) == called
