"""Functions that steps and workers of other modules call."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import dedent

import pytest

from xlamig.engine.load import module_identity
from xlamig.flow import ProjectIndex, summary_of
from xlamig.flow.model.callers import Callers
from xlamig.syntax import module_from_text

HELPERS = """
import torch
def loss_of(x): return inner(x)
def inner(x): return x.sum()
def other(x): pass
class Mixin:
    def prepare(self, x): return self.pad(x)
    def pad(self, x): return x
class Box:
    def __init__(self, x): self.x = x
"""
LOOP = """
import torch, helpers
from helpers import loss_of, other, Mixin, Box
def train(loader, model, optimizer, step):
    {setup}
    for x in loader:
        {body}
        optimizer.step()
"""


def called(**files: str) -> list[str]:
    """Return the functions called in steps, as "helpers.f"."""
    return sorted(f"{module}.{name}" for module, of in callers(files).items() for name in of.steps)


def callers(files: Mapping[str, str]) -> Mapping[str, Callers]:
    interfaces = {}
    for stem, text in files.items():
        name, text = module_identity(f"{stem}.py"), dedent(text)
        interfaces[name] = summary_of(module_from_text(text), text, name, False).interface
    return ProjectIndex(interfaces).callers


def from_loop(body: str, setup: str = "pass") -> list[str]:
    found = called(helpers=HELPERS, train=LOOP.format(body=body, setup=setup))
    return [name for name in found if name.startswith("helpers")]


@pytest.mark.parametrize(
    ("body", "setup"),
    [
        ("pass", "loss_of(loader)"),  # before the loop
        ("if step % 10 == 0: other(x)", "pass"),
        ("if rank == 0: other(x)", "pass"),
        ("if x is None: raise ValueError(other(x))", "pass"),
        ("if self.table is None: self.table = other(x)", "pass"),
        ("later = loss_of", "pass"),
        ("loss_of(x)", "def loss_of(x): return x"),  # hidden by another
        ("model.prepare(x)", "pass"),
    ],
)
def test_not_in_each_step(body: str, setup: str) -> None:
    assert from_loop(body, setup) == []


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("loss_of(x)", ["helpers.inner", "helpers.loss_of"]),
        ("helpers.loss_of(x).backward()", ["helpers.inner", "helpers.loss_of"]),
        ("print(model(other(x)))", ["helpers.other"]),
        ("if x.sum() > 0: other(x)", ["helpers.other"]),
        ("Box(x)", ["helpers.Box.__init__"]),
    ],
)
def test_in_each_step(body: str, expected: list[str]) -> None:
    assert from_loop(body) == expected


def test_through_a_module_between() -> None:
    between = "import torch\nfrom helpers import other as o\ndef middle(x): o(x)"
    train = LOOP.format(body="between.middle(x)", setup="import between")
    found = called(helpers=HELPERS, between=between, train=train)
    assert "helpers.other" in found


def test_a_forward_pass_calls_what_it_inherits() -> None:
    model = """
    import torch
    from torch import nn
    from helpers import Mixin
    class Net(nn.Module, Mixin):
        def forward(self, x): return self.prepare(x)
    """
    found = called(helpers=HELPERS, model=model)
    assert found == ["helpers.Mixin.pad", "helpers.Mixin.prepare", "model.Net.forward"]


BASE = """
from torch import nn
class Detector(nn.Module):
    def __init__(self): self.reset()
    def forward(self, x): return self.detect(x)
    def detect(self, x): raise NotImplementedError
    def reset(self): pass
class Between(Detector): pass
"""
HEIRS = """
import torch
from base import Between
class Heir(Between):
    def __init__(self): super().__init__()
    def detect(self, x): return decode(x)
    def reset(self): pass
    def show(self, x): pass
class Other:
    def detect(self, x): pass
def decode(x): return x
"""


def test_a_step_calls_what_replaces_a_method_that_a_base_calls() -> None:
    found = called(base=BASE, heirs=HEIRS)
    assert [name for name in found if name.startswith("heirs")] == ["heirs.Heir.detect", "heirs.decode"]


REGISTRY = """
class Registry:
    def __init__(self): self.held = {}
    def register(self, held):
        self.held[held.__name__] = held
        return held
HEADS = Registry()
def build_head(cfg): return HEADS.held[cfg.pop("type")](**cfg)
"""
HEADS = """
import torch
from torch import nn
from above import Above
from registry import HEADS
@HEADS.register
class Head(Above):
    def decode(self, x): return helper(x)
    def show(self, x): pass
@HEADS.register
class Sampler:
    def decode(self, x): pass
class Unregistered(nn.Module):
    def decode(self, x): pass
def helper(x): return x
"""
ABOVE = """
import torch
from torch import nn
class Above(nn.Module):
    def boxes(self, x): pass
    def show(self, x): pass
"""
BUILT = """
import torch
from torch import nn
from registry import build_head
class Net(nn.Module):
    def __init__(self, cfg, head):
        self.head = MADE
    def forward(self, x): return self.head.decode(self.head.boxes(x))
"""


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        ("build_head(cfg.head)", ["above.Above.boxes", "heads.Head.decode", "heads.helper"]),
        ("head", []),
        ("open(cfg.head)", []),
    ],
)
def test_a_step_calls_methods_of_modules_that_a_factory_makes(made: str, expected: list[str]) -> None:
    net = BUILT.replace("MADE", made)
    found = called(registry=REGISTRY, above=ABOVE, heads=HEADS, net=net)
    assert [name for name in found if name.startswith(("above", "heads"))] == expected


def test_functions_that_call_each_other_end() -> None:
    a = "import torch, b\ndef f(x): b.g(x)"
    b = "import torch, a\ndef g(x): a.f(x)"
    train = LOOP.format(body="a.f(x)", setup="import a")
    assert {"a.f", "b.g"} <= set(called(a=a, b=b, helpers=HELPERS, train=train))


COLLATE = """
import torch
def collate(batch): return stacked(batch)
def stacked(batch): return torch.stack(batch)
class Padding:
    def __call__(self, batch): return self.pad(batch)
    def pad(self, batch): return batch
"""


def in_workers(main: str) -> list[str]:
    """Return the functions of `helpers` that run in workers alone."""
    imports = "import torch, functools, helpers\nfrom helpers import collate, stacked, Padding\n"
    found = callers({"helpers": COLLATE, "train": imports + main})
    return sorted(found["helpers"].workers) if "helpers" in found else []


@pytest.mark.parametrize(
    "given",
    [
        "collate",
        "helpers.collate",
        "functools.partial(collate, pad=0)",
        "functools.partial(helpers.collate)",
        "lambda samples: collate(samples, 0)",
        "collate if args.sparse else None",
        "None if args.dense else helpers.collate if args.sparse else other",
    ],
)
def test_what_a_collate_function_of_another_file_calls_runs_in_workers(given: str) -> None:
    assert in_workers(f"torch.utils.data.DataLoader(data, collate_fn={given})") == ["collate", "stacked"]


def test_the_default_of_a_collate_function_runs_in_workers() -> None:
    make = "def make(data, collate_fn={}): return torch.utils.data.DataLoader(data, collate_fn=collate_fn)"
    assert in_workers(make.format("collate")) == ["collate", "stacked"]
    assert in_workers(make.format("None")) == []
    assert in_workers("def make(data, transform=collate): return transform(data)") == []


def test_a_collate_function_under_its_usual_name_runs_in_workers() -> None:
    load = "\ntorch.utils.data.DataLoader(data, collate_fn=collate_fn)"
    assert in_workers(f"collate_fn = collate if args.sparse else None{load}") == ["collate", "stacked"]
    assert in_workers(f"collate_fn = helpers.collate{load}") == ["collate", "stacked"]
    assert in_workers(f"collate_fn = collate(args){load}") == []
    assert in_workers(f"function = collate{load}") == []


def test_what_a_collator_of_another_file_calls_runs_in_workers() -> None:
    found = in_workers("torch.utils.data.DataLoader(data, collate_fn=Padding())")
    assert found == ["Padding.__call__", "Padding.pad"]


@pytest.mark.parametrize("other", ["stacked(x)", "def f(x): return helpers.stacked(x)"])
def test_a_function_that_is_called_elsewhere_too_runs_not_in_workers_alone(other: str) -> None:
    found = in_workers(f"torch.utils.data.DataLoader(data, collate_fn=collate)\n{other}")
    assert found == ["collate"]


def test_what_a_lambda_only_passes_on_runs_in_no_worker() -> None:
    assert in_workers("torch.utils.data.DataLoader(data, collate_fn=lambda samples: [collate])") == []


def test_functions_run_in_no_worker_where_no_loader_gets_them() -> None:
    assert in_workers("collate(x)") == []


def test_a_caller_in_another_module_is_named_first() -> None:
    own = HELPERS + LOOP.format(body="loss_of(x)", setup="pass")
    other = LOOP.format(body="loss_of(x)", setup="pass")
    for files in ({"helpers": own, "train": other}, {"a_train": other, "helpers": own}):
        steps = callers(files)["helpers"].steps
        assert steps["loss_of"] == next(name for name in files if name != "helpers")
