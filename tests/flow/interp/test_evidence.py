"""Values whose uses prove that they are tensors."""

from __future__ import annotations

import pytest

from xlamig.flow.model.evidence import Evidence

from .said import said

IN_FUNCTION = """
import numpy as np
from lib import combine, load
from torch.nn.functional import relu as rectify

def helper(x, y, mask=None, layer=None, flag=None):
    n = float(x)
    USE
"""
READ = "host-read item: float(x)"
BRANCHES = "".join(f"if y > {i}:\n        z = load({i})\n    " for i in range(40))
PROVES = {
    "a function of torch that takes tensors only": "F.relu(x)",
    "an element-wise one": "torch.exp(x)",
    "one that makes a tensor like it": "torch.zeros_like(x)",
    "an operator by its alias": "rectify(x)",
    "one of torch.linalg": "torch.linalg.inv(x)",
    "a second parameter that takes tensors only": "F.cross_entropy(y, x)",
    "a parameter by name": "F.linear(y, weight=x)",
    "the condition of where": "torch.where(x, y, 0)",
    "what a result is written to": "torch.max(y, y, out=x)",
    "one of the results that are written": "torch.sort(y, out=(y, x))",
    "an element of a list of tensors": "torch.cat([y, x], dim=-1)",
    "an element of a tuple of tensors": "torch.stack((x, y))",
    "a method that only tensors have": "x.unsqueeze(0)",
    "its logarithm": "x.log()",
    "its number of dimensions": "x.dim()",
    "a conversion": "y = x.float()",
    "an argument of such a method": "y.masked_fill(x, 0.0)",
    "a part of it": "z = x[:, 1:]; return torch.exp(z)",
    "a part of it, with a method of arrays": "return F.softmax(x[..., :2].reshape(-1), dim=0)",
    "a multiple of it": "z = 2 * x + 1\n    return torch.exp(z)",
    "a sum of which a function takes the whole": "torch.exp(-x / 3)",
    "a matrix product with a tensor": "z = torch.exp(y) @ x",
    "a matrix product with a tensor that is proved later": "z = x @ y; y.unsqueeze(0)",
    "a backward pass": "(x / 4).backward()",
    "a use unless it is None": "if x is not None:\n        torch.exp(x)",
    "a use after an early return": "if x is None:\n        return y\n    return torch.exp(x)",
    "a use in one of two branches": "if flag == 'log':\n        y = torch.log(x)\n    else:\n        y = 1",
    "a use in a comprehension": "return [torch.exp(x) * i for i in range(3)]",
    "a use in a loop": "for i in range(3):\n        y = y + torch.exp(x)",
    "a use in a with block": "with torch.no_grad():\n        torch.exp(x)",
    "a use in an argument": "combine(torch.exp(x), 3)",
    "the choice between it and another": "torch.exp(x if flag else y)",
    "a use after lists were made tensors": (
        "if isinstance(x, (list, tuple)):\n        x = torch.tensor(x)\n    torch.exp(x)"
    ),
    "a use after other types were refused": (
        "if not isinstance(x, torch.Tensor):\n        raise TypeError\n    torch.exp(x)"
    ),
    "a use where it is of no other type": (
        "if isinstance(x, list):\n        return x\n    else:\n        torch.exp(x)"
    ),
    "a default for None before the use": "if x is None:\n        x = torch.ones(2)\n    torch.exp(x)",
    "a use in a nested function": "def inner(y):\n        return torch.exp(x) + y\n    return inner",
    "a name that many branches bind too": f"z = x\n    {BRANCHES}torch.exp(z)",
    "a walrus": "if (z := x[1:, None]) is not None:\n        torch.exp(z)",
}
PROVES_NOTHING = {
    "a shape, which arrays have too": "return x.shape[-1]",
    "a method that arrays have too": "return x.sum() + x.reshape(-1).mean()",
    "a function of numpy": "return np.exp(x)",
    "its length": "return len(x)",
    "a size": "return torch.zeros(x)",
    "a fill value": "return torch.full((2,), x)",
    "an end of a range": "return [y for _ in range(x)]",
    "a summand of a tensor": "return torch.add(y, x)",
    "a factor of a tensor": "return torch.exp(y) * x",
    "a bound": "return torch.clamp(y, x)",
    "a dimension": "return F.softmax(y, x) + y.sum(x)",
    "a probability": "return F.dropout(y, x)",
    "a size in a view": "return y.unsqueeze(0).view(x, -1)",
    "a slice bound": "return torch.exp(y[:x])",
    "an index": "return torch.exp(y[x])",
    "a seed": "torch.manual_seed(x)",
    "a method of lists": "x.append(torch.exp(y))",
    "a method of sets": "x.add(3)",
    "a method of loggers": "x.log({'loss': 1})",
    "data for a tensor": "return torch.tensor(x) + torch.as_tensor(x)",
    "an array made a tensor": "return torch.from_numpy(x)",
    "what is saved": "torch.save(x, 'x.pt')",
    "its first element": "return torch.exp(x[0])",
    "what another function writes to": "combine(y, out=x)",
    "its attribute": "return torch.exp(x.weight)",
    "an object's own method, of a tensor": "return x.norm(y) + x.softmax(y)",
    "what another name holds": "x2 = combine(x); return torch.exp(x2)",
    "what a name holds that many branches bind": f"z = combine(x)\n    {BRANCHES}torch.exp(z)",
    "a name that is bound after many branches": f"z = x\n    {BRANCHES}z = load(y)\n    torch.exp(z)",
    "another value of the same name": "x = torch.tensor(x); return torch.exp(x)",
    "what a function made of it": "x = load(x); return x.unsqueeze(0)",
    "a loop over it": "for x in y:\n        torch.exp(x)",
    "a comprehension's own variable": "return [torch.exp(x) for x in y]",
    "a lambda's own parameter": "return map(lambda x: torch.exp(x), y)",
    "a nested function's own parameter": "def inner(x):\n        return torch.exp(x)\n    return inner",
    "a use where it was asked to be a tensor": "if torch.is_tensor(x):\n        y = torch.exp(x)",
    "a use where it was asked to be one, on the other side": (
        "if not isinstance(x, torch.Tensor):\n        return x\n    else:\n        return torch.exp(x)"
    ),
    "a use after numbers were returned": (
        "if not isinstance(x, torch.Tensor):\n        return x\n    return torch.exp(x)"
    ),
    "a choice by its type": "return torch.exp(x) if isinstance(x, torch.Tensor) else math.exp(x)",
    "a conjunction with a question for its type": "if isinstance(x, torch.Tensor) and torch.isnan(x): pass",
    "a flag": "if x:\n        y = torch.exp(y)",
    "a comparison with a text": "if x == 'mean':\n        y = torch.exp(y)",
    "an object with a tensor's method": "x.items(); torch.exp(x)",
    "a function of the same name": "def exp(v): return v\n    return exp(x)",
}  # fmt: skip


@pytest.mark.parametrize("use", PROVES)
def test_proves_a_parameter_of_a_function(use: str) -> None:
    assert READ in said(IN_FUNCTION.replace("USE", PROVES[use]))


@pytest.mark.parametrize("use", PROVES_NOTHING)
def test_proves_nothing_of_a_parameter(use: str) -> None:
    assert READ not in said(IN_FUNCTION.replace("USE", PROVES_NOTHING[use]))


def test_it_is_none_where_it_is_of_another_type() -> None:
    use = (
        "if isinstance(x, (int, float)):\n        y = math.exp(x)\n    y = torch.exp(x)\n    z = math.log(x)"
    )
    assert said(IN_FUNCTION.replace("USE", use)) == [READ, "host-read builtin: math.log(x)"]


@pytest.mark.parametrize(
    "asked", ["type(x) == torch.Tensor", "type(x) is torch.Tensor", "torch.is_tensor(x)"]
)
def test_it_is_a_number_after_a_tensor_was_read(asked: str) -> None:
    text = f"""
    def label(classes):
        ids = torch.exp(classes)
        x = ids[0]
        if {asked}: x = x.item()
        return str(x)
    """
    assert said(text) == ["host-read item: x.item()"]


PARSED = """
class Net(nn.Module):
    def forward(self, x, text):
        try:
            n = float(text)
        except CAUGHT:
            n = 0.0
        return x * n
"""


@pytest.mark.parametrize(
    "caught", ["ValueError", "(TypeError, ValueError)", "(ValueError, OverflowError) as e"]
)
def test_what_may_be_no_number_is_text(caught: str) -> None:
    assert said(PARSED.replace("CAUGHT", caught), sure=False) == []


def test_a_number_is_read_where_no_text_is_expected() -> None:
    assert said(PARSED.replace("CAUGHT", "RuntimeError"), sure=False) == ["host-read item: float(text)"]
    proved = PARSED.replace("CAUGHT", "ValueError").replace("x * n", "text.unsqueeze(0) * n")
    assert said(proved) == ["host-read item: float(text)"]


IN_METHOD = """
from lib import combine

class KIND:
    def __init__(self, features):
        super().__init__()
        self.conv = nn.Conv1d(features, features, 3)
        self.table = {}
        self.features = features
        self.parts = nn.ModuleList([nn.Linear(2, 2)])
        self.whole = nn.Sequential(Unpack(), nn.Linear(2, 2))

    def compute(self, x, other=None):
        n = float(x)
        USE
"""


@pytest.mark.parametrize("kind", ["Net(nn.Module)", "Base(Unknown)", "Plain"])
def test_proves_a_parameter_of_any_method(kind: str) -> None:
    assert READ in said(IN_METHOD.replace("KIND", kind).replace("USE", "return torch.exp(x)"))


@pytest.mark.parametrize(
    "use", ["self.conv(x)", "nn.MSELoss()(other, x)", "loss = nn.L1Loss(); loss(x, other)"]
)
def test_proves_what_a_layer_is_called_with(use: str) -> None:
    assert READ in said(IN_METHOD.replace("KIND", "Net(nn.Module)").replace("USE", use))


@pytest.mark.parametrize(
    "use", ["self.whole(x)", "self.table(x)", "self.combine(x)", "combine(x)", "self.parts[x]"]
)
def test_proves_nothing_of_what_something_else_is_called_with(use: str) -> None:
    assert READ not in said(IN_METHOD.replace("KIND", "Net(nn.Module)").replace("USE", use))


MASKED = """
from lib import combine

def helper(x, w, flags=None):
    USE
"""


@pytest.mark.parametrize(
    "use", ["return x[torch.isnan(w)]", "keep = ~(torch.exp(w) > 0.5)\n    x[keep] = 0.0"]
)
def test_a_mask_proves_what_it_indexes(use: str) -> None:
    found = said(MASKED.replace("USE", use), "dynamic-shape")
    assert [line for line in found if line.startswith("dynamic-shape mask-")]


@pytest.mark.parametrize(
    "use",
    ["return x[w]", "return x[w > 0]", "return x[flags]", "return x[0], w[1:]", "return x[torch.argmax(w)]",
     "return x[torch.ones(3, dtype=torch.bool)]"],
)  # fmt: skip
def test_another_index_proves_nothing_of_what_it_indexes(use: str) -> None:
    assert said(MASKED.replace("USE", use), "dynamic-shape") == []


LOCAL = """
from lib import combine

def step(x, y):
    z = combine(3)
    n = float(z)
    USE
"""


@pytest.mark.parametrize("use", ["return torch.exp(z)", "return y.masked_fill(z > 0, z[:, None].exp())"])
def test_proves_what_an_unknown_function_returned(use: str) -> None:
    assert "host-read item: float(z)" in said(LOCAL.replace("USE", use))


@pytest.mark.parametrize(
    "use", ["return torch.zeros(z)", "z = torch.tensor(z); return torch.exp(z)", "return z.shape"]
)
def test_proves_nothing_of_what_an_unknown_function_returned(use: str) -> None:
    assert said(LOCAL.replace("USE", use)) == []


MAYBE = """
import random
import numpy as np

def step(operators):
    y = torch.ones(2).cuda()
    for operator in random.sample(operators, 2):
        y = operator(y)
    z = y
    n = float(z)
    USE
"""


@pytest.mark.parametrize("use", ["return torch.exp(z)", "return z.masked_fill(z > 0, 0)"])
def test_proves_what_may_be_a_tensor(use: str) -> None:
    assert "host-read item: float(z)" in said(MAYBE.replace("USE", use))


@pytest.mark.parametrize(
    "use", ["return z.shape", "return np.exp(z)", "z.append(3); torch.exp(z)", "z = load(z); torch.exp(z)"]
)
def test_proves_nothing_of_what_may_be_a_tensor(use: str) -> None:
    text = MAYBE.replace("USE", use)
    assert said(text) == []
    assert said(text, sure=False) == ["host-read item: float(z)"]


def test_proves_what_the_tensors_of_a_step_are_made_of() -> None:
    text = """
    from lib import Base

    class Recognizer(Base):
        def training_step(self, batch, batch_idx):
            images, labels = batch
            tgt = self.tokenizer.encode(labels)
            tgt_out = tgt[:, 1:]
            n = (tgt_out != self.pad).sum().item()
            loss = n * F.cross_entropy(self.head(images), tgt_out.flatten(), ignore_index=self.pad)
            return loss
    """
    assert "host-read item: (tgt_out != self.pad).sum().item()" in said(text)


KEEPS = """
from lib import Base, combine

class Keeps(Base):
    def __init__(self, x, other=None):
        super().__init__()
        self.scale = x
        self.shift = combine()
        self.rate = other

    def value(self, y):
        READ
        return n

    def apply(self, y):
        USE
"""
ATTRIBUTES = {
    "self.scale": "return F.linear(y, self.scale)",
    "self.shift": "return torch.exp(self.shift[:, 1:]) * y",
    "self.inherited": "return self.inherited.unsqueeze(0)",
}


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_proves_an_attribute_in_all_methods(name: str) -> None:
    text = KEEPS.replace("READ", f"n = float({name})").replace("USE", ATTRIBUTES[name])
    assert f"host-read item: float({name})" in said(text)


def test_proves_the_parameter_that_an_attribute_keeps() -> None:
    text = KEEPS.replace("super().__init__()", "n = float(x)").replace("USE", "return torch.exp(self.scale)")
    assert READ in said(text.replace("READ", "n = 1"))


@pytest.mark.parametrize(
    "use",
    ["return y * self.rate", "return torch.full((2,), self.rate)", "return self.rate(torch.exp(y))",
     "other.rate = y; return torch.exp(other.rate)", "return torch.exp(self.rate['y']) + self.rate.exp()",
     "return torch.exp(self.rate) if torch.is_tensor(self.rate) else y"],
)  # fmt: skip
def test_proves_nothing_of_an_attribute(use: str) -> None:
    assert said(KEEPS.replace("READ", "n = float(self.rate)").replace("USE", use), "host-read") == []


CONSTRUCTED = """
class Coupling(nn.Module):
    def __init__(self, mask):
        super().__init__()
        chosen = torch.arange(mask.numel()).masked_select(mask > 0)
        self.register_buffer("kept", chosen)
        self.chosen = chosen
        self.count = len(self.chosen)

    def forward(self, x):
        self.chosen = self.chosen
        return x[:, self.NAME]
"""


@pytest.mark.parametrize("name", ["kept", "chosen", "count:"])
def test_what_is_made_at_construction_keeps_its_shape(name: str) -> None:
    found = said(CONSTRUCTED.replace("self.chosen = self.chosen", "").replace("NAME", name))
    assert [line for line in found if "self." in line] == []


def test_what_a_step_assigns_does_not() -> None:
    text = CONSTRUCTED.replace("self.chosen = self.chosen", "self.chosen = x[x > 0]").replace(
        "NAME", "chosen"
    )
    assert "dynamic-shape derived: self.chosen" in said(text)


GIVEN = """
class Net(nn.Module):
    def forward(self, batch, other):
        USE
"""


@pytest.mark.parametrize(
    "use", ["n = float(batch['x'].sum())", "n = float(batch.x.sum()); batch.y.update(3)"]
)
def test_a_container_that_a_forward_pass_is_given_holds_tensors(use: str) -> None:
    assert [
        line for line in said(GIVEN.replace("USE", use)) if line.startswith("host-read item: float(batch")
    ]


@pytest.mark.parametrize(
    "use", ["if other == 'mean': return float(other)", "for _ in range(other): n = float(other)"]
)
def test_a_setting_that_a_forward_pass_is_given_is_no_tensor(use: str) -> None:
    assert said(GIVEN.replace("USE", use), sure=False) == []


@pytest.mark.parametrize(
    ("use", "walks"),
    [("", 0), ("log.info('done')", 0), ("log.level", 0), ("torch.exp(log)", 1), ("log.unsqueeze(0)", 1)],
)
def test_collects_evidence_only_of_names_that_may_have_some(
    use: str, walks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    walked: list[object] = []
    add = Evidence.add
    monkeypatch.setattr(Evidence, "add", lambda found, *given: walked.append(given) or add(found, *given))
    text = f"""
    from lib import field, make

    log = make("train")

    class Settings:
        size = field(8)
        name = field("small")

        def show(self):
            return torch.exp(self)

    {use}
    """
    said(text)
    of_module_or_class = [scope for _, params, scope in walked if not params]
    assert len(of_module_or_class) == walks


@pytest.mark.parametrize(("used", "count"), [("self.heads[i - 1](x)", 0), ("x[i - 1] + 1", 1)])
def test_what_chooses_a_module_is_no_tensor(used: str, count: int) -> None:
    model = f"""
class Net(nn.Module):
    def __init__(self):
        self.heads = nn.ModuleList([nn.Linear(3, 3) for _ in range(3)])
    def forward(self, i, x):
        assert i > 0
        return {used}
"""
    assert len([fact for fact in said(model) if "i > 0" in fact]) == count


@pytest.mark.parametrize(("written", "found"), [("(Tensor, int)", [READ]), ("(float, int)", [])])
def test_type_comment_tells_what_a_parameter_is(written: str, found: list[str]) -> None:
    text = f"""
    from torch import Tensor
    def helper(x, y):
        # type: {written} -> float
        return float(x)
    """
    assert said(text, "host-read") == found
