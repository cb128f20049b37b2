"""Parts of a module that move alone, after an optimizer was made for the whole."""

from __future__ import annotations

import pytest

from .said import said

ENCODER = """
class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

"""
OWN = (
    ENCODER
    + """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        BODY

    def later(self):
        LATER

model = Model()
again = Model()
model.later()
"""
)
WHOLE = (
    ENCODER
    + """
class Net(nn.Module):
    def __init__(self, frozen=None):
        super().__init__()
        self.encoder = Encoder()
        self.head = nn.Linear(4, 2)
        self.loss = nn.MSELoss()

BODY
"""
)
MADE = "self.encoder = Encoder()"
TRAINED = "self.optimizer = torch.optim.Adam(self.parameters())"


def moves(text: str) -> list[str]:
    return [one.removeprefix("module-move optimizer: ") for one in said(text, "module-move")]


def own(*lines: str, later: str = "pass") -> list[str]:
    return moves(OWN.replace("BODY", "\n        ".join(lines)).replace("LATER", later))


def whole(*lines: str) -> list[str]:
    return moves(WHOLE.replace("BODY", "\n".join(lines)))


FREEZE = "for p in self.encoder.parameters(): p.requires_grad = False"


@pytest.mark.parametrize(
    "lines",
    [
        [MADE, "self.encoder.cuda()", TRAINED],
        ["self.encoder = Encoder().cuda()", TRAINED, "self.encoder.cuda()"],
        [MADE, TRAINED, "self.encoder.to(torch.bfloat16)"],
        ["self.loss = nn.MSELoss()", TRAINED, "self.loss.cuda()"],  # it has no parameters
        [TRAINED, MADE, "self.encoder.cuda()"],  # the optimizer never held it
        [MADE, FREEZE, TRAINED, "self.encoder.cuda()"],
        [MADE, "self.encoder.requires_grad_(False)", TRAINED, "self.encoder.cuda()"],
        [MADE, TRAINED, "other = Encoder()", "other.cuda()"],
    ],
)
def test_the_optimizer_of_an_object_keeps_its_parts(lines: list[str]) -> None:
    assert own(*lines) == []


@pytest.mark.parametrize(
    ("lines", "later", "moved"),
    [
        ([MADE, TRAINED, "self.encoder.cuda()"], "pass", "self.encoder.cuda()"),
        ([MADE, TRAINED], "self.encoder.cuda()", "self.encoder.cuda()"),
        ([MADE, TRAINED, "self.encoder.layer.cuda()"], "pass", "self.encoder.layer.cuda()"),
    ],
)
def test_a_part_leaves_the_optimizer_of_its_object(lines: list[str], later: str, moved: str) -> None:
    assert own(*lines, later=later) == [moved]


OPTIMIZER = "optimizer = torch.optim.Adam(net.parameters())"


@pytest.mark.parametrize(
    "lines",
    [
        ["net = Net()", "net.encoder.cuda()", "net.head.cuda()", OPTIMIZER],
        ["net = Net()", "net.cuda()", OPTIMIZER, "net.encoder.cuda()"],
        ["net = Net()", OPTIMIZER, "net.loss.cuda()"],
        ["net = Net()", "optimizer = torch.optim.Adam(net.head.parameters())", "net.encoder.cuda()"],
        ["net = Net()", "net.encoder.requires_grad_(False)", OPTIMIZER, "net.encoder.cuda()"],
    ],
)
def test_the_optimizer_of_a_module_keeps_its_parts(lines: list[str]) -> None:
    assert whole(*lines) == []


def test_a_part_leaves_the_optimizer_of_its_module() -> None:
    assert whole("net = Net()", OPTIMIZER, "net.encoder.cuda()", "net.head.to('cuda')") == [
        "net.encoder.cuda()",
        "net.head.to('cuda')",
    ]
