"""A guess about one of several ways is `possible`; a fact of every way keeps its confidence."""

from __future__ import annotations

import pytest
from tests.flow.interp.said import said

ONE_OF_TWO = """
class Grows:
    def __init__(self): self.seen = 0
    def update(self): self.seen += 1
    def length(self): return self.seen
    def size(self): return torch.rand(2, device="cuda").sum()
class Other(Grows):
    def length(self): return LENGTH
    def size(self): return SIZE
class Net(nn.Module):
    def __init__(self, flag):
        made = Grows if flag else Other
        self.state = made()
    def forward(self, x):
        self.state.update()
        return BODY
"""
LENGTH = "torch.arange(self.state.length(), device=x.device)"
SIZE = "torch.zeros(self.state.size(), device=x.device)"


@pytest.mark.parametrize(
    ("body", "length", "size", "sure"),
    [
        (LENGTH, "0", "0", False),  # the other class has a constant length
        (LENGTH, "self.seen * 2", "0", True),
        (SIZE, "0", "4", False),  # a number there
        (SIZE, "0", "torch.rand(2, device='cuda').max()", True),
    ],
)
def test_what_one_of_two_classes_does_is_possible(body: str, length: str, size: str, sure: bool) -> None:
    text = ONE_OF_TWO.replace("LENGTH", length).replace("SIZE", size).replace("BODY", body)
    assert any("x.device" in line or "self.state" in line for line in said(text, sure=False))
    assert bool(said(text)) is sure


SHAPE = """
class Net(nn.Module):
    def forward(self, x, shape: ANNOTATION):
        if shape[0] > 3:
            x = x + 1
        return x + torch.arange(shape[1], device=x.device)
"""


@pytest.mark.parametrize(("annotation", "reads"), [("torch.Size", False), ("torch.Tensor", True)])
def test_a_size_is_no_tensor(annotation: str, reads: bool) -> None:
    assert bool(said(SHAPE.replace("ANNOTATION", annotation), sure=False)) is reads


LARGEST = """
class Net(nn.Module):
    def forward(self, x, flag):
        size = torch.stack([x.sum(), x.mean()]) if flag else OTHER
        return max(size)
"""


@pytest.mark.parametrize(
    ("other", "sure"), [("x.shape[-2:]", False), ("[3, 4]", False), ("x.flatten()", True), ("[x, x]", True)]
)
def test_a_tensor_or_a_list_of_numbers_is_possible(other: str, sure: bool) -> None:
    text = LARGEST.replace("OTHER", other)
    assert said(text, "host-read", sure=False)
    assert bool(said(text, "host-read")) is sure


DISTRIBUTION = """
class Net(nn.Module):
    def forward(self, x):
        held = torch.distributions.Normal(x, x.exp())
        if TEST:
            x = x + 1
        return x
"""


@pytest.mark.parametrize(
    ("test", "reads"),
    [
        ("held.batch_shape[-1] == 3", False),
        ("held.event_shape", False),
        ("held.has_rsample", False),
        ("held.mean > 0", True),
        ("held.sample() > 0", True),
    ],
)
def test_the_shapes_of_a_distribution_are_numbers(test: str, reads: bool) -> None:
    assert bool(said(DISTRIBUTION.replace("TEST", test), "host-read")) is reads


COUNTED = """
class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.depth = len(width)
    def forward(self, x):
        for i in range(self.depth):
            x = x + 1
        BODY
        return x
    def DEFINED(self):
        self.depth += 1
"""


@pytest.mark.parametrize(
    ("defined", "body", "sure"),
    [
        ("expand", "pass", False),  # a user may call it, once or often
        ("expand", "self.expand()", True),
        ("training_step", "pass", True),
    ],
)
def test_an_attribute_counts_where_something_calls_what_counts(defined: str, body: str, sure: bool) -> None:
    text = COUNTED.replace("DEFINED", defined).replace("BODY", body)
    assert said(text, "changing", sure=False)
    assert bool(said(text, "changing")) is sure


SAMPLER = """
import outside
class Wrap(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(8, 8)
    def forward(self, x, sigma):
        return self.inner(x * sigma)
@torch.no_grad()
def sample(x, sigmas, guided):
    model = Wrap().cuda()
    if guided:
        def denoise(x, sigma):
            return OTHER
    else:
        def denoise(x, sigma):
            return model(x, sigma)
    for sigma in sigmas:
        x = x + denoise(x, sigma) * 0.1
    return x
sample(torch.randn(4, 8, device="cuda"), [0.1 * k for k in range(100)], input() == "1")
"""


@pytest.mark.parametrize(
    ("other", "ends"),
    [
        ("x * sigma", False),  # no model runs there
        ("model(x, sigma) * 2", True),
        ("outside.combine(model, x, sigma)", True),
    ],
)
def test_a_loop_over_one_of_two_models_needs_a_boundary(other: str, ends: bool) -> None:
    assert bool(said(SAMPLER.replace("OTHER", other), kind="step-boundary")) is ends


DEFAULTED = """
def default(value, d):
    if value is not None:
        return value
    return d() if callable(d) else d
class Wrap(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(8, 8)
    def forward(self, x):
        return self.inner(x)
@torch.no_grad()
def sample(x):
    model = Wrap().cuda()
    for step in range(100):
        x = x + default(GIVEN)
    return x
sample(torch.randn(4, 8, device="cuda"))
"""


@pytest.mark.parametrize(
    ("given", "ends"),
    [
        ("None, x", False),
        ("None, x.sum()", False),
        ("None, lambda: model(x)", True),
    ],
)
def test_what_is_callable_is_called(given: str, ends: bool) -> None:
    assert bool(said(DEFAULTED.replace("GIVEN", given), kind="step-boundary")) is ends
