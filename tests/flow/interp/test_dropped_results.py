"""A loop whose model calls give nothing to anybody computes nothing: its graph does not grow."""

from __future__ import annotations

import pytest

from .said import said

TEXT = """
model = nn.Linear(3, 3).to(torch_xla.device())
kept = []
with torch.no_grad():
    for i in range(100):
        x = torch.ones(2, 3, device=torch_xla.device())
    for i in range(100):
        BODY
"""


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("model(x)", []),
        ("model(x).sum(); model(x)", []),
        ("kept.append(model(x))", ["step-boundary none"]),
        ("x = model(x)", ["step-boundary none"]),
        ("kept += [model(x)]", ["step-boundary none"]),
    ],
)
def test_a_loop_that_only_calls_the_model(body: str, found: list[str]) -> None:
    boundaries = said(TEXT.replace("BODY", body.replace("; ", "\n        ")), "step-boundary")
    assert [line.partition(":")[0] for line in boundaries] == found


FUNCTION = """
class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = nn.Sequential(nn.Linear(3, 3), nn.LayerNorm(3))

    def forward(self, x):
        return self.part(x)

class Normed(Plain):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(3)

class Recording(Plain):
    def forward(self, x):
        y = self.part(x)
        self.note(y)
        return y

    def note(self, y):
        self.outputs.append(y)

def run(loader, results, model, other):
    device = torch_xla.device()
    MODEL
    i = 0
    with torch.no_grad():
        for batch in loader:
            x = batch.to(device)
            BODY
    END

run(torch.utils.data.DataLoader([torch.ones(2, 3)] * 9), [], load().to(torch_xla.device()), {})
"""


def boundaries(body: str, model: str = "model = Plain().to(device)", end: str = "return i") -> int:
    lines = body.replace("; ", "\n            ")
    text = FUNCTION.replace("MODEL", model.replace("; ", "\n    ")).replace("BODY", lines).replace("END", end)
    return sum(line.startswith("step-boundary none") for line in said(text, "step-boundary"))


@pytest.mark.parametrize(
    "body",
    [
        "_ = model(x)",
        "model(x)",
        "out = model(x)",
        "start = time.time(); out = model(x); took = time.time() - start; print(took)",
        "a, b = model(x).chunk(2)",
        "out = F.softmax(model(x), -1).mean(); i += 1",
        "_ = model(x); break",
        "h = model(h) if i else model(x)",
    ],
)
def test_reports_nothing_where_no_result_is_kept(body: str) -> None:
    assert boundaries(body) == 0


@pytest.mark.parametrize(
    "body",
    [
        "results.append(model(x))",
        "out = model(x); results.append(out)",
        "out = model(x); loss = out.sum(); other['loss'] = loss",
        "out = model(x); other.update(loss=out)",
        "out = model(x); results += [out]",
        "i = i + model(x).sum()",
        "_ = model(x); results.append(other.encode(x))",
        "_ = model(x); results.append(model.latent)",
        "_ = model(x); collect(model, results)",
    ],
)
def test_reports_a_loop_that_keeps_a_result(body: str) -> None:
    assert boundaries(body) == 1


@pytest.mark.parametrize(
    ("model", "found"),
    [
        ("model = Normed().to(device)", 1),
        ("model = Normed().to(device).eval()", 0),
        ("model = Normed().to(device); model.eval()", 0),
        ("model = Normed().to(device); model.train(False)", 0),
        ("model = Normed().to(device); model.eval(); model.train()", 1),
        ("model = Recording().to(device).eval()", 1),
        ("model = nn.BatchNorm1d(3).to(device)", 1),
        ("model = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3)).to(device)", 1),
        ("model = Plain().to(device); model.register_forward_hook(keep)", 1),
        ("model = model.to(device)", 1),  # of which nothing is known
        ("model = model.to(device).eval()", 0),
    ],
)
def test_a_model_may_keep_something_itself(model: str, found: int) -> None:
    assert boundaries("_ = model(x)", model) == found


def test_a_value_that_goes_through_the_loop_grows_where_it_is_read_after_it() -> None:
    model = "model = Plain().to(device); h = torch.ones(2, 3, device=device)"
    assert boundaries("h = model(h)", model, "return h.sum()") == 1
    assert boundaries("h = model(h)", model, "return i") == 0
    assert boundaries("out = model(x)", model, "return out.sum()") == 0  # of the last iteration alone
