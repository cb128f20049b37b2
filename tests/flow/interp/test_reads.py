"""Host reads: of device tensors only, by whatever Python does with them."""

from __future__ import annotations

import pytest

from xlamig.facts import HostRead

from .said import STEP, facts, in_step, said

SILENT = {
    "the unique values of host tensors": "if torch.unique(torch.ones(3), dim=None).any(): z = 1",
    "what one of several results is not": "u, n = torch.unique(torch.ones(3), return_counts=True); int(n[0])",
    "a host tensor": "torch.ones(3).sum().item()",
    "after it was copied": "z = extra_cpu = [1, 2]; sum(z)",
    "numbers of a shape": "int(x.shape[0]); float(x.size(1)); range(len(x)); print(x.shape)",
    "data where a size may stand": "z = x.new(x[0]), torch.Tensor(x[0]), torch.cuda.FloatTensor(x[0])",
    "numpy": "import numpy as np\nz = np.ones(3).mean().item(); float(np.pi); np.zeros(2).tolist()",
    "dictionaries": "z = {'a': 1}\nfor k, v in z.items(): k.strip()\nz['a'].item if False else None",
    "is None": "loss if loss is None else 1\nif loss is not None: z = 1",
    "equal to a container": "if loss == {} or loss == [1] or loss != (): z = 1",
    "a test on metadata": "if x.dim() == 2 and x.dtype is torch.float32 and len(x): z = 1",
    "a list of tensors": "if [loss]: z = 1",
    "a shape that equals numbers": "assert x.shape == (2, i) and x.shape == x.size()",
    "a tuple that is something": "if (loss, 1) is extra: z = 1",
    "a tuple beside none": "if (loss, 1) == None or (loss, 1) == 'a': z = 1",
    "a list beside a tuple": "z = [1, loss] == (1, 2); x.shape == [loss, 8]; {loss} == {1}",
    "tensors of the host in a tuple": "assert x.shape == (torch.ones(3).sum(), 8)",
    "a slice of a list": "z = [1, 2, 3][: i]; z[None : len(x)]; z[torch.tensor(1) :]",
    "each element of a comprehension": "a, b = (t * 2 for t in (torch.ones(3), x)); float(a.sum())",
    "each element of a tuple": "some = (torch.ones(3), x); a, b, c = 1, *some; float(b.sum())",
    "rows at the indices of a mask": "at = torch.where(x > 0)[0]; y = x[at]; z = x[at[1:]]",
    "equality of another object": "z = extra.equal(loss); extra.allclose(loss)",
    "a lazy log argument": "import logging\nlogging.getLogger('a').debug('%s', loss)",
    "a key of what may be a dictionary": "z = extra.to(device)\nfor k, v in extra.items(): w = k in z",
    "a dictionary's get": "{}.get(loss)",
    "a class of tensors on the device": "z = x.type(torch.cuda.FloatTensor)",
    "the name of the host": "z = torch.ones(3, device=str(torch.device('cpu'))); float(z.sum())",
    "a dtype": "z = x.type(torch.float32).type(x.type())",
    "the dtype of an unknown object": "z = torch.ones(3).to(extra.model.dtype); float(z.sum())",
    "a dtype by its name": "weight_dtype = extra; z = torch.ones(3).to(weight_dtype); float(z.sum())",
    "a layer at a Python number": "layers = nn.ModuleList([model]); z = layers[0]",
    "a variable on the host": "from torch.autograd import Variable\nfloat(Variable(torch.ones(3).sum()))",
    "arithmetic": "z = sum([loss, loss]) + abs(loss) + loss ** 2 + max(1, 2)",
    "a number in an entry": "s = optimizer.state[i]; s['a'] = loss; s['a'] = 3\nif s['a'] > 2: z = 1",
    "the entry of a new object": "s = optimizer.a[0]; s['a'] = loss; s = optimizer.a[1]; z = float(s['a'])",
    "an order of host numbers": "z = sorted([3, 1], key=lambda n: -n); z.sort(key=lambda n: n % 2)",
    "an order by a host number": "z = sorted([loss, loss], key=lambda t: t.dim()); z.sort(key=lambda t: 1)",
    "pairs ordered by a number": "z = [(1, loss), (2, loss)]; z.sort(); z = sorted(z, key=lambda p: p[0])",
    "a filter of numbers": "z = list(filter(lambda n: n > 1, [1, 2]))",
    "an attribute set by name": "class C: pass\nc = C(); setattr(c, 'a', 3); z = float(c.a)",
    "a position of a list that the host has": "z = [0] * 3; z[i] = x; z[torch.tensor(1)] = 2; z[:1] = [x]",
    "a key of a dictionary that it adds": "z = {}; z[x.argmax()] = 3",
    "a number that an object elsewhere writes": "from lib import board; board.add_scalar('lr', i / 9, i)",
    "an object elsewhere that keeps it": "from lib import board; board.keep('loss', loss, i)",
    "spread numbers": "print(*[1, i], *x.shape); z = '%s' % (*x.shape, *torch.ones(3)); '{}'.format(*extra)",
    "python numbers": "z = max(i, 3); w = math.sqrt(i + 1); v = float('inf'); u = f'{i:.3f}'",
}
READ = {
    "if torch.unique(x).any(): z = 1": "truth: torch.unique(x).any()",
    "if torch.unique(x, dim=None).sum() > 1: z = 1": "truth: torch.unique(x, dim=None).sum() > 1",
    "if x.unique(dim=0).sum() > 1: z = 1": "truth: x.unique(dim=0).sum() > 1",
    "if torch.unique(x, return_counts=True)[1].max(): z = 1": (
        "truth: torch.unique(x, return_counts=True)[1].max()"
    ),
    "if x.max(dim=None) > 1: z = 1": "truth: x.max(dim=None) > 1",
    "if torch.linalg.solve(x, x).sum() > 1: z = 1": "truth: torch.linalg.solve(x, x).sum() > 1",
    "loss.item()": "item: loss.item()",
    "z = torch.autograd.Variable(loss, volatile=True); float(z)": "item: float(z)",
    "x.tolist()": "item: x.tolist()",
    "float(loss)": "item: float(loss)",
    "int(loss)": "item: int(loss)",
    "loss.cpu()": "copy: loss.cpu()",
    "loss.to('cpu', non_blocking=True)": "copy: loss.to('cpu', non_blocking=True)",
    "(x < 0).type(torch.Tensor)": "copy: (x < 0).type(torch.Tensor)",
    "x.type('torch.FloatTensor')": "copy: x.type('torch.FloatTensor')",
    "nn.ModuleList([model])[x.argmax()]": "builtin: x.argmax()",
    "F.one_hot(x, x.max())": "number: x.max()",
    "loss.detach().cpu().numpy()": "copy: loss.detach().cpu()",
    "print(loss)": "format: loss",
    "f'{loss:.4f}'": "format: loss",
    "'%.3f' % loss": "format: loss",
    "'{}'.format(loss)": "format: loss",
    "print(1, *x[0])": "format: x[0]",
    "'{} {}'.format(*x[0])": "format: x[0]",
    "'%s %s' % (*x[0], i)": "format: x[0]",
    "'%s %s' % (i, *x.sum(0))": "format: x.sum(0)",
    "str(loss)": "format: loss",
    "bar.set_postfix(loss=loss)": "format: loss",
    "logger.debug(f'{loss}')": "log: loss",
    "bool(loss)": "truth: bool(loss)",
    "assert (x < 9).all()": "truth: (x < 9).all()",
    "not loss": "truth: loss",
    "loss and x": "truth: loss",
    "0 < loss < 1": "truth: 0 < loss < 1",
    "1 if loss > 0 else 2": "truth: loss > 0",
    "any([loss, loss])": "truth: any([loss, loss])",
    "torch.isnan(loss) or 1": "nan-check: torch.isnan(loss)",
    "assert torch.isfinite(x).all()": "nan-check: torch.isfinite(x).all()",
    "math.isnan(loss)": "nan-check: math.isnan(loss)",
    "max(loss, 1.0)": "builtin: max(loss, 1.0)",
    "sorted([loss, loss])": "builtin: sorted([loss, loss])",
    "sorted([1, 2], key=lambda k: x[k].item())": "item: x[k].item()",
    "z = [1, 2]; z.sort(key=lambda k: float(x[k]))": "item: float(x[k])",
    "max([1, 2], key=lambda k: x[k])": "builtin: max([1, 2], key=lambda k: x[k])",
    "z = [(loss, 1), (loss, 2)]; z.sort()": "builtin: z.sort()",
    "z = [{'a': loss}]; z.sort(key=lambda e: e['a'])": "builtin: z.sort(key=lambda e: e['a'])",
    "z = list(filter(lambda k: x[k] > 0, [1, 2]))": "truth: filter(lambda k: x[k] > 0, [1, 2])",
    "z = torch.full((4, 1), x[torch.tensor([0])][i][0])": "number: x[torch.tensor([0])][i][0]",
    "class C: pass\nc = C(); setattr(c, 'a', x[0, 0]); z = torch.full((2,), c.a)": "number: c.a",
    "2 in x": "builtin: 2 in x",
    "math.exp(loss)": "builtin: math.exp(loss)",
    "torch.equal(x, x)": "builtin: torch.equal(x, x)",
    "x.equal(loss)": "builtin: x.equal(loss)",
    "1 if i > 1 and x.allclose(loss, rtol=1e-6) else 2": "builtin: x.allclose(loss, rtol=1e-6)",
    "assert x.shape == (x.argmax(), 8)": "builtin: x.argmax()",
    "z = [1, loss]; [1, 2] != z": "builtin: z",
    "(loss, 1) == (x, 2)": "builtin: loss",
    "z = [1, 2, 3]; z[x.argmax()] = 4": "builtin: x.argmax()",
    "z = [0] * len(x)\nfor k in range(len(x)): z[x.argsort()[k]] = k": "builtin: x.argsort()[k]",
    "z = []; z[: x.argmax()] = [4]": "builtin: x.argmax()",
    "from lib import board; board.add_scalar('loss', loss, i)": "format: loss",
    "import lib; lib.boards.main.add_histogram('x', x)": "format: x",
    "[1, 2, 3][: x.argmax()]": "builtin: x.argmax()",
    "[y for y in [1, 2, 3][x.argmax() :]]": "builtin: x.argmax()",
    "y = extra * loss.clamp(0, extra); x.add_(x, alpha=-y)": "number: -y",
    "a, b = [t * 2 for t in (torch.ones(3), x)]; float(b.sum())": "item: float(b.sum())",
    "some = (torch.ones(3), x); a, b, c = 1, *some; float(c.sum())": "item: float(c.sum())",
    "a, b = (t for t in (torch.ones(3), x) if extra); float(a.sum())": "item: float(a.sum())",
    "at = (x == loss).nonzero(as_tuple=True)[0][0]; x[at + 1]": "number: at + 1",
    "at = torch.where(x[0] > 0)[0][-1]; x[:at]": "number: at",
    "['a', 'b'][x.argmax()]": "builtin: x.argmax()",
    "z = list('abc')[x.argmax()]": "builtin: x.argmax()",
    "z = (['a'] + list(str(i)))[x.argmax()]": "builtin: x.argmax()",
    "x[x.argmax()]": "number: x.argmax()",
    "x[: x.argmax()]": "number: x.argmax()",
    "x.narrow(0, x.argmax(), 1)": "number: x.argmax()",
    "map(float, x)": "item: map(float, x)",
    "z = torch.ones(3, device=str(x.device) if extra else 'cpu'); float(z.sum())": "item: float(z.sum())",
    "s = optimizer.state[i]; s['a'] = loss; z = float(s['a'])": "item: float(s['a'])",
}


@pytest.mark.parametrize("case", SILENT)
def test_nothing_is_read(case: str) -> None:
    assert in_step(SILENT[case], "host-read", sure=False) == []


@pytest.mark.parametrize("code", READ)
def test_a_value_is_read(code: str) -> None:
    assert in_step(code, "host-read")[:1] == [f"host-read {READ[code]}"]


@pytest.mark.parametrize(
    ("guard", "frequency"),
    [
        ("if i % 100 == 0:", "interval"),
        ("if i % 100:", "step"),
        ("if extra:", "step"),
        ("late = i % 100 == 0\n        if late:", "interval"),
        ("early, late = i < 99, i % 100 == 0\n        if early or extra:", "step"),
        ("early = i % 9 == 0 and i < 99\n        late = i % 100 == 0\n        if early or late:", "interval"),
        ("late = i % 100 == 0\n        if not late:", "step"),
        ("if should_log:", "interval"),
        ("if divisible_by(i, 100):", "interval"),
        ("if torch.isnan(loss):", "interval"),
        ("if loss.isinf().any():", "interval"),
        ("if not torch.isfinite(loss).all():", "interval"),
        ("if torch.isfinite(loss):", "step"),
        ("if not torch.isnan(loss):", "step"),
        ("if loss.sign().any():", "step"),
        ("if random.random() < 0.5:", "step"),
        ("if random.random() < 0.9:", "step"),
        ("if random.random() < 0.01:", "interval"),
        ("if i % 4 < 3:", "step"),
        ("if i % 1000 < 8:", "interval"),
        ("if i - last >= 100:", "step"),
        ("if i - last >= 1:\n            last = i", "step"),
        ("if i - last >= 100:\n            last = i", "interval"),
        ("if count > 0:\n            count = 0", "step"),
        ("if count == steps:\n            count = 0", "interval"),
        ("if turns(i):", "step"),
        ("if due(i):", "interval"),
        ("late = due(i)\n        if late:", "interval"),
        ("late = True if i % 100 == 0 else False\n        if late:", "interval"),
        ("late = False\n        if extra:\n            late = True\n        if late:", "step"),
        ("late = False\n        if i % 100 == 0:\n            late = True\n        if late:", "interval"),
        ("if i == 100:\n            warm = True\n        if warm:", "step"),
        ("if i % 100 == 0:\n            best = i\n        if best is not None:", "step"),
        ("k = None\n        if i % 100:\n            k = i\n        if k is not None:", "step"),
        ("k = None\n        if i % 100 == 0:\n            k = i\n        if k is None:", "step"),
        ("k = None\n        if i % 100 == 0:\n            k = i\n        if k is not None:", "interval"),
    ],
)
def test_a_test_may_make_it_seldom(guard: str, frequency: str) -> None:
    text = f"""
    device = torch_xla.device()
    model = nn.Linear(8, 8).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    last = count = 0
    warm = False
    best = None

    def due(step):
        if step < 10:
            return False
        return step % 100 == 0

    def turns(step):
        return extra if step else step % 100 == 0

    for i in range(99):
        loss = model(torch.ones(2, 8, device=device)).sum()
        loss.backward()
        optimizer.step()
        {guard}
            loss.item()
    """
    *_, read = (fact for fact in facts(text) if fact.kind == "host-read")  # a test of a tensor is one too
    assert read.frequency == frequency


def test_a_read_after_the_loop_is_not_in_a_step() -> None:
    text = """
    device = torch_xla.device()
    model = nn.Linear(8, 8).to(device)
    def train(loader, optimizer):
        total = torch.zeros((), device=device)
        for batch in loader:
            loss = model(batch.to(device)).sum()
            loss.backward()
            optimizer.step()
            total += loss.detach()
        return total.item()
    """
    assert [fact.frequency for fact in facts(text) if fact.kind == "host-read"] == ["unknown"]


@pytest.mark.parametrize(
    ("line", "boundary"),
    [("loss.item()", "after"), ("loss.detach().cpu()", "after"), ("(loss * 2).item()", "before")],
)
def test_after_the_boundary_only_what_is_there_is_cheap(line: str, boundary: str) -> None:
    text = f"""
    device = torch_xla.device()
    model = nn.Linear(8, 8).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in loader:
        loss = model(batch.to(device)).sum()
        loss.backward()
        optimizer.step()
        torch_xla.sync()
        {line}
    """
    assert [fact.boundary for fact in facts(text) if fact.kind == "host-read"] == [boundary]  # type: ignore[attr-defined]


def test_a_wrapper_is_seen_through() -> None:
    text = """
    def item(value):
        return value.item()

    class Meter:
        def update(self, value):
            self.sum = value
            self.last = item(value)

    meter = Meter()
    device = torch_xla.device()
    model = nn.Linear(8, 8).to(device)
    for batch in loader:
        loss = model(batch.to(device)).sum()
        loss.backward()
        optimizer.step()
        meter.update(loss)
    """
    assert said(text, "host-read") == ["host-read item: value.item()"]


def test_a_meter_of_numbers_reads_nothing() -> None:
    text = """
    class Meter:
        def update(self, value):
            if isinstance(value, torch.Tensor):
                value = value.item()
            self.sum = value

    meter = Meter()
    for batch in loader:
        loss = model(batch.to("cuda")).sum()
        loss.backward()
        optimizer.step()
        meter.update(0.5)
    """
    assert said(text, "host-read", sure=False) == []


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ('lr=optimizer.param_groups[0]["lr"]', False),
        ("lr=0.1, loss=loss.item()", False),
        ('lr=optimizer.param_groups[0]["lr"], loss=loss', True),
        ('weight=optimizer.param_groups[0]["params"][0].norm()', True),
    ],
)
def test_a_meter_reads_tensors_only(given: str, read: bool) -> None:
    text = """
    model = nn.Linear(8, 8).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    class Meter:
        def update(self, **values):
            for name, value in values.items():
                if isinstance(value, torch.Tensor):
                    value = value.item()

    meter = Meter()
    for batch in loader:
        loss = model(batch.cuda()).sum()
        loss.backward()
        optimizer.step()
        meter.update(GIVEN)
    """
    found = said(text.replace("GIVEN", given), "host-read", sure=False)
    assert ("host-read item: value.item()" in found) is read


def test_the_second_read_of_a_round_is_told_apart() -> None:
    text = """
    model = nn.Linear(8, 8).cuda()
    for batch in loader:
        out = model(batch.cuda())
        loss = out.sum()
        loss.backward()
        optimizer.step()
        a, b, c = loss.item(), out.max().item(), out.min().item()
    """
    assert [f.nth for f in facts(text) if f.kind == "host-read"] == ["first", "later", "only"]  # type: ignore[attr-defined]


def test_a_loop_over_parameters_is_told() -> None:
    body = "total = 0\nfor p in model.parameters(): total += p.grad.norm().item()"
    assert in_step(body, "host-read") == ["host-read item: p.grad.norm().item()"]


def test_why_is_said_with_the_places() -> None:
    text = """
    class Net(nn.Module):
        def forward(self, x):
            return x * 2

    model = Net().to("cuda")
    for batch in loader:
        loss = model(batch)
        loss.backward()
        optimizer.step()
        loss.item()
    """
    (read,) = [fact for fact in facts(text) if fact.kind == "host-read"]
    assert [why.message for why in read.reasons] == [
        '`Net().to("cuda")` is on the device',
        "`model(batch)` is computed on the device",
    ]


@pytest.mark.parametrize(
    ("loop", "told"),
    [
        ("for a, b in x: torch.arange(a, device=device)", True),
        ("for a, b in x: z = int(a)", True),
        ("for a, b in x: z = a * b", False),
        ("for a, b in x.tolist(): torch.arange(a, device=device)", False),
        ("for a, b in torch.ones(3, 2): torch.arange(int(a), device=device)", False),
        ("for a, b in model.named_buffers(): b.sum().item()", False),
        ("for a in x: a.sum().item()", False),
    ],
)
def test_a_loop_over_rows_whose_numbers_are_needed(loop: str, told: bool) -> None:
    rows = [fact for fact in facts(STEP.replace("BODY", loop)) if getattr(fact, "over", "") == "rows"]
    assert len(rows) == told


@pytest.mark.parametrize("test", ["torch.is_tensor(v)", "isinstance(v, torch.Tensor)"])
def test_what_is_no_tensor_there(test: str) -> None:
    given = "z = v.detach() if TEST else torch.tensor(float(v))\nif not TEST: float(v)\nif TEST: float(v)"
    body = "v = extra if i else loss\n" + given.replace("TEST", test)
    assert in_step(body, "host-read") == ["host-read item: float(v)"]


def test_an_output_may_be_a_container_whose_truth_costs_nothing() -> None:
    assert in_step("a, b = self_like.model.generate(x)\nif b: z = 1", "host-read") == []


def test_a_mapping_whose_keys_are_arguments() -> None:
    assert said("def f(*names):\n    return names\nf(*{'a': 1}); torch.stack(*{'b': 2})") == []


def test_a_default_is_read_where_the_function_is_defined() -> None:
    text = """
    x = torch.ones(3).cuda()

    def show(label=(f"{x}", 1), *rest):
        print("shown")

    print("defined")
    """
    found = [fact for fact in facts(text) if fact.kind == "host-read"]
    assert [fact.statement[0] <= fact.span[0] for fact in found] == [True]


@pytest.mark.parametrize(
    ("index", "reads"),
    [
        ("x.argmax()", True),
        ("torch.arange(9, device=device)[2]", True),
        ("torch.tensor(3)", False),
        ("3", False),
    ],
)
def test_a_table_of_the_host_at_a_position_of_the_device(index: str, reads: bool) -> None:
    body = f"table = torch.linspace(0, 1, 9)\nt = {index}\nprint(table[t].shape)"
    assert bool(in_step(body, "host-read")) == reads


@pytest.mark.parametrize(
    ("asked", "reads"),
    [
        ("2 in ids", True),
        ("2 not in ids", True),
        ("'a' in ids", False),
        ("2 in [2]", False),
        ("ids in ['a', 'b']", False),
    ],
)
def test_a_number_is_looked_for_in_an_entry_of_a_batch(asked: str, reads: bool) -> None:
    text = f"""
    def train(model, optimizer, loader, device):
        for batch in loader:
            ids = batch["ids"].to(device)
            found = {asked}
            model(ids).sum().backward()
            optimizer.step()
    train(nn.Linear(8, 8).to("cuda"), None, torch.utils.data.DataLoader([]), "cuda")
    """
    assert any(line.startswith("host-read builtin") for line in said(text)) == reads


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("n = torch.tensor([loss * k for k in range(3)]).sum().item()", ["builtin: loss * k"]),
        ("parts = [loss, loss * 2]\nn = torch.as_tensor(parts).norm().item()", ["builtin: parts"]),
        (
            "n = torch.norm(torch.tensor([p.grad.norm() for p in model.parameters()]))",
            ["builtin: p.grad.norm()"],
        ),
        ("n = torch.tensor([loss, 1.0]).item()", ["builtin: loss"]),
        ("n = torch.tensor([k * 2.0 for k in range(3)]).sum().item()", []),
        (
            "n = torch.tensor([k for k in range(3)], device=device).sum().item()",
            ["item: torch.tensor([k for k in range(3)], device=device).sum().item()"],
        ),
        ("n = torch.stack([loss, loss]).sum()", []),
        ("n = torch.stack([loss, loss]).sum().item()", ["item: torch.stack([loss, loss]).sum().item()"]),
    ],
)
def test_a_tensor_of_a_list_is_read_where_it_is_made(line: str, found: list[str]) -> None:
    assert in_step(line, "host-read") == [f"host-read {read}" for read in found]


TYPED = """
from dataclasses import dataclass
from jaxtyping import Bool, Float
from torch import Tensor
@dataclass
class Points:
    mean: Float[Tensor, "n d"]
    kept: Bool[Tensor, "n"]
    name: str
class Net(nn.Module):
    def forward(self, points):
        if isinstance(points, Points):
            BODY
        return torch.exp(points)
"""


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("return points.mean[points.kept]", ["dynamic-shape mask-read: points.mean[points.kept]"]),
        ("return float(points.mean.sum())", ["host-read item: float(points.mean.sum())"]),
        ("return float(points.name)", []),
        ("return points.mean[:2]", []),
    ],
)
def test_a_test_for_a_class_tells_the_fields_of_a_dataclass(body: str, found: list[str]) -> None:
    text = TYPED.replace("BODY", body)
    kinds = ("host-read", "dynamic-shape")
    assert [line for line in said(text) if line.startswith(kinds)] == found
    assert [
        line for line in said(text.replace("isinstance(points, Points)", "points.ok")) if "name" in line
    ] == []


@pytest.mark.parametrize(
    ("branch", "rare"),
    [
        ("if extra is None: time.warning_once('no mask'); z = loss.item()", True),
        ("if extra is None and i is not None: time.warn('no mask'); z = loss.item()", True),
        ("if extra is None: z = loss.item()", False),
        ("if extra is None: time.show('no mask'); z = loss.item()", False),
        ("if not fast_kernels: time.warn('slow'); z = loss.item()", False),
    ],
)
def test_a_branch_that_warns_of_what_was_left_out_is_rare(branch: str, rare: bool) -> None:
    text = STEP.replace("BODY", "extra = time.chosen(i)\n        " + branch)
    (read,) = [fact for fact in facts(text) if fact.kind == "host-read"]
    assert (read.frequency == "interval") is rare


ASKED = """
class Net(nn.Module):
    def forward(self, x, extra):
        TEST:
            float(extra)
        return x
"""


@pytest.mark.parametrize("test", ["if x is not None", "if extra"])
def test_what_a_forward_pass_is_given_may_be_no_tensor(test: str) -> None:
    assert "host-read item: float(extra)" not in said(ASKED.replace("TEST", test))


@pytest.mark.parametrize("test", ["if isinstance(extra, torch.Tensor)", "if torch.is_tensor(extra)"])
def test_it_is_one_where_it_was_asked_for(test: str) -> None:
    assert "host-read item: float(extra)" in said(ASKED.replace("TEST", test))


@pytest.mark.parametrize(
    ("rounds", "sure"),
    [
        ("ctx.queue.maxsize", False),
        ("ctx.queue.size_of", False),
        ("ctx.queue.argmax()", True),
        ("x.argmax()", True),
    ],
)
def test_what_may_be_a_number_of_a_container_is_one_in_a_range(rounds: str, sure: bool) -> None:
    text = f"""
    class Layer(torch.autograd.Function):
        @classmethod
        def forward(cls, ctx, x, extra):
            cls.parse(ctx, extra)
            for _ in range({rounds}):
                x = torch.relu(x)
            return x

        @staticmethod
        def parse(ctx, extra):
            ctx.queue = extra["queue"]
    """
    assert any(line.startswith("host-read builtin") for line in said(text)) == sure


@pytest.mark.parametrize(
    ("fill", "origin"),
    [
        ("pass", "host"),
        ("torch.distributed.broadcast(made, 0)", ""),
    ],
)
def test_the_host_has_no_copy_of_what_a_collective_fills(fill: str, origin: str) -> None:
    lines = f"made = torch.tensor([0], device=device); {fill}; n = made.item()"
    found = facts(STEP.replace("BODY", lines))
    assert [fact.origin for fact in found if isinstance(fact, HostRead) and fact.via == "item"] == [origin]


def test_the_host_has_no_copy_of_the_tensors_that_all_gather_fills() -> None:
    lines = "made = [torch.zeros(2, device='cpu').to(device)]; FILL; n = made[0].sum().item()"
    for fill, origin in (("pass", "host"), ("torch.distributed.all_gather(made, x)", "")):
        found = facts(STEP.replace("BODY", lines.replace("FILL", fill)))
        assert [f.origin for f in found if isinstance(f, HostRead) and f.via == "item"] == [origin]
