"""Methods called `step` that take a tensor, and the counters that they keep."""

from __future__ import annotations

import pytest

from xlamig.facts import ChangingConstant

from .said import facts, said

SCHEDULER = """
class Scheduler:
    def __init__(self, n, device):
        self._index = None
        self.sigmas = torch.linspace(0, 1, n).to(device)

    @property
    def index(self):
        return self._index

    def reset(self):
        self._index = None

    def find(self, t):
        return (self.sigmas == t).nonzero().item()

    def start(self, t):
        self._index = self.find(t)

    def step(self, output: torch.Tensor, t, x: torch.Tensor):
        BODY
        self._index += 1
        return x + output * sigma
"""


def often(text: str) -> list[str]:
    return [f"{fact.kind} {fact.frequency}" for fact in facts(text) if fact.confidence != "possible"]


@pytest.mark.parametrize(
    "body",
    [
        "sigma = self.sigmas[0]",
        "sigma = len(self.sigmas) - self.index",
        "table = [0.1, 0.2, 0.3]; sigma = table[self.index]",
    ],
)
def test_a_counter_that_indexes_no_tensor(body: str) -> None:
    assert said(SCHEDULER.replace("BODY", body), "changing-constant") == []


@pytest.mark.parametrize(
    "body",
    [
        "sigma = self.sigmas[self.index]",
        "sigma = self.sigmas[self.index - 1]",
        "i = self.index; sigma = self.sigmas[i + 1]",
    ],
)
def test_a_tensor_indexed_by_a_counter_of_the_method(body: str) -> None:
    assert "changing-constant step" in often(SCHEDULER.replace("BODY", body))


def test_without_an_annotation_counting_shows_that_it_runs_again() -> None:
    text = """
    class Env:
        def __init__(self, device):
            self.t = 0
            self.frames = torch.zeros(10, 3, device=device)

        def step(self, action):
            self.t += 1
            return self.frames[self.t] * action
    """
    assert often(text) == ["changing-constant step"]


@pytest.mark.parametrize(
    "text",
    [
        "class Rate:\n def step(self, epoch=None): self.rate = self.rates.to('cuda').max().item()",
        "class Meter:\n def update(self, x: torch.Tensor): self.total = x.to('cuda').max().item()",
        "def step(x: torch.Tensor): return x.to('cuda').max().item()",
    ],
)
def test_what_is_not_known_to_run_every_step(text: str) -> None:
    assert "step" not in {line.split()[-1] for line in often(text)}


FIND = "self.kept = self.find(t)"


@pytest.mark.parametrize(
    "first",
    [
        "if self.index is None: self.start(t)",
        f"if not hasattr(self, 'kept'): {FIND}",
        f"if hasattr(self, 'kept'): pass\n        else: {FIND}",
        f"if self.kept is not None: pass\n        else: {FIND}",
    ],
)
def test_what_only_the_first_call_does(first: str) -> None:
    found = often(SCHEDULER.replace("BODY", f"{first}\n        sigma = 1"))
    assert found and "step" not in {line.split()[-1] for line in found}


@pytest.mark.parametrize(
    "body",
    [
        "if self.other is None: self.find(t)",
        "if hasattr(self, 'kept'): self.kept = self.find(t)",
        "if not hasattr(self, 'other'): self.kept = self.find(t)",
        "if not hasattr(output, 'kept'): output.kept = self.find(t)",
    ],
)
def test_what_a_setting_decides_runs_every_step(body: str) -> None:
    assert "host-read step" in often(SCHEDULER.replace("BODY", f"{body}\n        sigma = 1"))


MOVED = """
class Scheduler:
    def reset(self, n, device):
        self._index = 0
        self.sigmas = torch.linspace(0, 1, n).to(device)
        MORE

    def step(self, output: torch.Tensor):
        sigma = self.sigmas[self._index]
        self._index += 1
        return output * sigma
"""


def test_a_table_that_goes_back_to_the_host() -> None:
    found = often(MOVED.replace("MORE", "self.sigmas = self.sigmas.to('cpu')"))
    assert "changing-constant step" not in found


@pytest.mark.parametrize(
    "more", ["pass", "if n > 100: self.sigmas = self.sigmas.to('cpu')", "self.other = self.sigmas.to('cpu')"]
)
def test_a_table_that_may_stay_on_the_device(more: str) -> None:
    assert "changing-constant step" in often(MOVED.replace("MORE", more))


DECODE = """
model = nn.Linear(8, 8).to("xla")

@torch.no_grad()
def decode(size):
    ids = torch.zeros(4, size, device="xla")
    for step in range(2, size):
        out = model(ids[BOUNDS])
        print(out.sum().item())
"""


@pytest.mark.parametrize(
    ("bounds", "via"),
    [
        (":, step", "index"),
        (":, step : step + 1", "slice"),
        (":, step - 2 : step", "slice"),
        (":, :step", "length"),
        (":, 0:step", "length"),
        (":, step:", "length"),
    ],
)
def test_which_bounds_of_a_slice_a_counter_moves(bounds: str, via: str) -> None:
    found = [f for f in facts(DECODE.replace("BOUNDS", bounds)) if isinstance(f, ChangingConstant)]
    assert {fact.via for fact in found} == {via}
