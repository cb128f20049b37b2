"""Numbers that are read from tensors: those of a constructor, those a tensor is made of, greatest lengths."""

from __future__ import annotations

import pytest

from xlamig.facts import DynamicShape, HostRead

from .said import facts

MODEL = """
class Net(nn.Module):
    def __init__(self, k, t):
        super().__init__()
        self.k = k
        self.fc = nn.Linear(8, 8)
        INIT

    def forward(self, x, lengths, mask):
        y = self.fc(x)
        BODY
        return y

    def later(self, n):
        CHANGE

model = Net(3, 0.1).to("cuda")
optimizer = torch.optim.SGD(model.parameters())
for x, lengths, mask in loader:
    model(x.cuda(), lengths.cuda(), mask.cuda()).sum().backward()
    optimizer.step()
    torch_xla.sync()
"""
BUFFER = 'self.register_buffer("params", torch.tensor([k, t, -1]))'


def run(body: str, init: str = "pass", change: str = "pass") -> tuple[list[HostRead], list[str]]:
    """Return the reads, and the sizes that depend on values."""
    indented = body.replace("\n", "\n        ")
    found = facts(MODEL.replace("BODY", indented).replace("INIT", init).replace("CHANGE", change))
    reads = [fact for fact in found if isinstance(fact, HostRead)]
    return reads, [fact.mask for fact in found if isinstance(fact, DynamicShape)]


READ = "k = int(self.params[0].item())\ny = y.view(2, k + 1, 8)"


@pytest.mark.parametrize(
    ("init", "change"),
    [
        (BUFFER, "self.params[0] = n"),
        (BUFFER, "self.params[n] = 1"),
        (BUFFER, "self.params.copy_(n)"),
        (BUFFER, "self.params[0].add_(1)"),
        (BUFFER, "self.params = n"),
        (BUFFER, "dist.broadcast(self.params, 0)"),
        ("self.params = torch.tensor([2], device='cuda')", "pass"),
        ("self.params = nn.Parameter(torch.tensor([k, t, -1.0]))", "pass"),
        ('self.register_buffer("params", torch.rand(3))', "pass"),
        ('self.register_buffer("params", torch.tensor([k.item(), t, -1]))', "pass"),
    ],
)
def test_a_tensor_that_may_change_keeps_no_number(init: str, change: str) -> None:
    reads, sizes = run(READ, init, change)
    assert [read.kept for read in reads] == [""]
    assert sizes == ["k + 1"]


@pytest.mark.parametrize(
    ("init", "body", "number"),
    [
        (BUFFER, READ, "self.k"),
        (BUFFER, "k = self.params[0].item()\ny = y * k", "self.k"),
        (BUFFER, "y = y * self.params[1].item()", "t"),
        (BUFFER, "y = y[:, : self.params[0]]", "self.k"),
        ("self.params = torch.tensor(k, device='cuda').long()", "y = y[:, : self.params]", "self.k"),
        ("self.params = torch.tensor([k + 1], device='cuda')", "y = y.view(-1, int(self.params))", "k + 1"),
    ],
)
def test_finds_the_number_of_the_constructor(init: str, body: str, number: str) -> None:
    reads, sizes = run(body, init, "self.params[2] = n")
    if init != BUFFER:
        reads, sizes = run(body, init)
    assert ([read.kept for read in reads], sizes) == ([number], [])


SHAPES = "for h, w in shapes:\n    y = y[: h * w].sum() + torch.linspace(0, h - 1, h, device=x.device).sum()"


@pytest.mark.parametrize(
    "made",
    [
        "torch.as_tensor([(2, 2), (1, 4)], device=x.device) * lengths",
        "torch.stack([lengths, lengths])",
        "torch.tensor([(n, n), (n, n)], device=x.device)",
    ],
)
def test_sizes_of_other_tensors_depend_on_values(made: str) -> None:
    reads, sizes = run(f"n = int(lengths.sum())\nshapes = {made}\n{SHAPES}")
    assert all(not read.holds for read in reads)
    assert sizes


@pytest.mark.parametrize(
    "made",
    [
        "torch.as_tensor([(2, 2), (1, 4)], device=x.device)",
        "torch.tensor([(2, 2)] + [x.shape[-2:]], device=x.device).long()",
    ],
)
def test_sizes_out_of_a_tensor_of_numbers_depend_on_no_values(made: str) -> None:
    reads, sizes = run(f"shapes = {made}\n{SHAPES}")
    assert {read.holds for read in reads if read.over != "rows"} == {"numbers"}
    assert not sizes


@pytest.mark.parametrize("size", ["lengths.min()", "lengths[0]", "lengths.sum()", "y.max()", "mask.sum()"])
def test_no_other_number_is_the_greatest_length(size: str) -> None:
    reads, _ = run(f"n = int({size})\ny = y + torch.ones(n, 8, device=x.device)")
    assert [read.longest for read in reads] == [""]


@pytest.mark.parametrize(
    ("size", "longest"),
    [
        ("int(lengths.max())", "lengths.max()"),
        ("lengths.max().item() + 1", "lengths.max()"),
        ("torch.max(lengths)", "torch.max(lengths)"),
        ("int(mask.sum(1).max())", "mask.sum(1).max()"),
    ],
)
def test_finds_the_greatest_length(size: str, longest: str) -> None:
    reads, _ = run(f"n = {size}\ny = y + torch.ones(n, 8, device=x.device)")
    assert [read.longest for read in reads] == [longest]


PACKED = """
class Cells(nn.Module):
    def forward(self, packed, state):
        FIELDS
        n = int(sizes[0])
        return state[:n] + data[:n]

model = Cells().to("cuda")
for packed, state in loader:
    model(packed.to("cuda"), state.cuda()).sum().backward()
    torch_xla.sync()
"""


@pytest.mark.parametrize(
    ("fields", "reads"),
    [
        ("data, sizes = packed", True),
        ("data, batch_sizes, order, back = packed; sizes = batch_sizes", False),
        ("data, sizes = packed.data, packed.batch_sizes", False),
    ],
)
def test_sizes_of_a_packed_sequence_are_on_the_host(fields: str, reads: bool) -> None:
    assert any(isinstance(fact, HostRead) for fact in facts(PACKED.replace("FIELDS", fields))) is reads


@pytest.mark.parametrize(
    ("fields", "reads"),
    [
        ("data, batch_sizes, order, back = packed", False),
        ("data, batch_sizes, order, back = packed; nn.utils.rnn.PackedSequence(data, batch_sizes)", False),
        ("data, counts, order, back = packed; nn.utils.rnn.PackedSequence(data, counts)", True),
    ],
)
def test_fields_of_something_unknown_are_on_the_host_by_their_name(fields: str, reads: bool) -> None:
    name = fields.split(",")[1].strip()
    text = PACKED.replace("FIELDS", fields).replace("int(sizes[0])", f"int({name}[0])")
    text = text.partition("model = ")[0] + "def use(model: Cells, packed, x):\n    return model(packed, x)\n"
    assert any(isinstance(fact, HostRead) and fact.via == "item" for fact in facts(text)) is reads


@pytest.mark.parametrize(("parameter", "reads"), [("batch_sizes", False), ("counts", True)])
def test_a_parameter_may_be_the_sizes_of_a_packed_sequence(parameter: str, reads: bool) -> None:
    text = PACKED.replace("packed, state):", f"data, {parameter}, state):")
    text = text.replace("FIELDS", f"nn.utils.rnn.PackedSequence(data, {parameter})")
    text = text.partition("model = ")[0].replace("sizes[0]", f"{parameter}[0]")
    assert any(isinstance(fact, HostRead) and fact.via == "item" for fact in facts(text)) is reads


@pytest.mark.parametrize(
    ("bound", "reads"),
    [
        ("y.__len__() - 1", False),
        ("y.shape.__len__()", False),
        ("[y, y].__len__()", False),
        ("y.argmax()", True),
    ],
)
def test_a_length_is_a_number(bound: str, reads: bool) -> None:
    found, _ = run(f"n = {bound}\nn -= 1\ny = y[: n + 1]")
    assert bool(found) is reads


@pytest.mark.parametrize(
    ("lengths", "reads"),
    [
        ("y, n = nn.utils.rnn.pad_packed_sequence(packed)", False),
        ("y = packed.data; n = packed.data.argmax(1)", True),
    ],
)
def test_lengths_of_what_was_packed_are_on_the_host(lengths: str, reads: bool) -> None:
    text = PACKED.replace("FIELDS", lengths).replace("int(sizes[0])", "int(n.max())")
    found = facts(text.replace("data[:n]", "y[:n]"))
    assert any(isinstance(fact, HostRead) for fact in found) is reads
