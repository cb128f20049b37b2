"""Findings in functions that nothing calls: each with its look-alike."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine
from xlamig.engine import Options

HEAD = """import torch, pandas
from typing import Optional
from torch import Tensor, nn
from elsewhere import OptTensor, scatter
Maybe = Optional[Tensor]
"""


def found(text: str, *codes: str) -> list[tuple[int, str, str]]:
    """Return the row, severity and confidence of what is reported, the rows of `text` from 1."""
    options = Options(
        {"select": list(codes), "confidence": "possible"},
        isolated=True,
        stdin=("own.py", (HEAD + text).encode()),
    )
    reports = engine.check([Path("own.py")], options).findings
    places = [one for finding in reports for one in finding.places]
    rows = [(one.place.location.row - HEAD.count("\n"), one.severity, one.confidence) for one in places]
    return sorted(rows)


LAYER = """class Net(nn.Module):
    def forward(self, x: Tensor, index: Tensor{given}):
        {body}
"""
SURE = [(3, "warning", "likely")]


@pytest.mark.parametrize(
    ("given", "body", "rows"),
    [
        ("", "y = 1.0 / scatter(x, index); y[y == float('inf')] = 0", SURE),
        ("", "y = 1.0 / scatter(x, index); y[x == float('inf')] = 0", SURE),
        (", mask: OptTensor = None", "x[mask] = 0", SURE),
        (", keep: Maybe = None", "x[keep > 0] = 0", SURE),
        (", table", "frame = pandas.DataFrame(table); frame[frame == 3] = 0", []),
        (", names: list[str]", "names[names == 'a'] = 0", []),
    ],
)
def test_mask_of_what_was_computed_from_tensors(given: str, body: str, rows: list[object]) -> None:
    text = LAYER.format(given=given, body=body.replace("; ", "\n        ") + "; return x")
    assert [(3, *rest) for _, *rest in found(text, "XLA203")] == rows


@pytest.mark.parametrize(
    ("given", "confidence"),
    [
        (", start_pos: int", ["likely"]),
        (", start_pos: int = 0", ["possible"]),
        (", size: int", []),
        (", start_pos: Tensor", []),
    ],
)
def test_position_that_the_caller_gives(given: str, confidence: list[str]) -> None:
    name = given.strip(", ").partition(":")[0]
    body = f"return x[:, {name} : {name} + 1]"
    told = found(LAYER.format(given=given, body=body), "XLA301")
    assert sorted({one for _, _, one in told}) == confidence


METER = """import torch.distributed as dist
class {name}:
    def log(self, step, value):
        dist.all_reduce(value)
        print(step)
def train(model, loader, optimizer, logger, rank):
    for x in loader:
        loss = model(x.cuda()).sum()
        loss.backward()
        optimizer.step()
        if rank == 0:
            logger.log(0, loss)
"""


@pytest.mark.parametrize(("name", "rows"), [("MetricLogger", [12]), ("Meter", []), ("LoggerFactory", [])])
def test_object_of_the_class_that_is_called_like_it(name: str, rows: list[int]) -> None:
    assert [row for row, *_ in found(METER.format(name=name), "XLA710")] == rows


GUARDED = """import torch_xla.core.xla_model as xm
import torch_xla.runtime as xr
def save(model, path):
    if xr.global_ordinal() != 0:
        return
    xm.rendezvous("saved")
"""


@pytest.mark.parametrize(
    ("after", "confidence"),
    [("", "likely"), ('def wait():\n    xm.rendezvous("saved")\n', "possible")],
)
def test_rendezvous_that_no_other_rank_calls(after: str, confidence: str) -> None:
    assert found(GUARDED + after, "XLA710") == [(6, "error", confidence)]


SAVED = """class Model:
    def __init__(self, net):
        self.net = nn.Linear(4, 4).cuda()
    def save(self, path):
        torch.save(self.net.cpu().state_dict(), path)
def fit(model, loader, optimizer, epochs):
    model = Model(None)
    for epoch in range(epochs):
        for x in loader:
            model.net(x.cuda()).sum().backward()
            optimizer.step()
        {epoch}
    {end}
"""


@pytest.mark.parametrize(
    ("epoch", "end", "severity"),
    [("model.save('a')", "pass", "warning"), ("pass", "model.save('a')", "info")],
)
def test_module_that_is_saved_from_the_cpu_and_trained_on(epoch: str, end: str, severity: str) -> None:
    told = found(SAVED.format(epoch=epoch, end=end), "XLA906")
    assert [one for row, one, _ in told if row == 5 and one != "error"][:1] == [severity]


STATE = """class Attention(nn.Module):
    def forward(self, k, incremental_state=None):
        if incremental_state is not None:
            old = incremental_state.get(self.key, {{}})
            k = torch.cat([old["key"], k], dim=2)
            old["{stored}"] = k
        return k
"""


@pytest.mark.parametrize(("stored", "rows"), [("key", [5]), ("query", [])])
def test_entry_of_a_state_that_grows(stored: str, rows: list[int]) -> None:
    assert [row for row, *_ in found(STATE.format(stored=stored), "XLA302")] == rows


OWN = """class Cache:
    def fill_diagonal_(self, x):
        return x
def pairs(labels: Tensor, other):
    return {receiver}.fill_diagonal_(0)
"""


@pytest.mark.parametrize(("receiver", "confidence"), [("labels", ["likely"]), ("other", ["possible"])])
def test_method_that_a_class_of_the_project_has_too(receiver: str, confidence: list[str]) -> None:
    assert [one for _, _, one in found(OWN.format(receiver=receiver), "XLA501")] == confidence


LOOP = """import torch_xla
def decode(model, x, n, k):
    offset = 0
    buf = torch.zeros(1, 100, device="xla")
    for _ in range(n):
        out = model(x)
        buf[:, offset] = out[:, -1]
        offset {then}
        {end}
    return buf
"""


@pytest.mark.parametrize(
    ("then", "end", "told"),
    [
        ("+= k", "torch_xla.sync()", ["likely"]),
        ("+= out.shape[1]", "torch_xla.sync()", ["likely"]),
        ("= offset + k", "torch_xla.sync()", ["likely"]),
        ("+= k", "pass", ["possible"]),
        ("+= k", "print(out.sum().item())", ["possible"]),  # nothing that the read needs
        ("= 0", "torch_xla.sync()", []),
    ],
)
def test_number_that_a_loop_adds_to(then: str, end: str, told: list[str]) -> None:
    assert [sure for _, _, sure in found(LOOP.format(then=then, end=end), "XLA301")] == told
