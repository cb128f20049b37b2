"""A read is of data that the host had where nothing else is computed with."""

from __future__ import annotations

import pytest

from xlamig.facts import HostRead

from .said import facts

TOTAL = """
def total(t):
    return t.flatten().sum().item()
"""
TEXT = """
def train(model, loader, optimizer, table, extra):
    model = model.to("cuda")
    for x, y, lengths in loader:
        x, y, lengths = x.to("cuda"), y.cuda(), lengths.to("cuda")
        out = model(x)
        BODY
        out.sum().backward()
        optimizer.step()

train(nn.Linear(8, 8), torch.utils.data.DataLoader([1]), torch.optim.SGD([], lr=0.1), [], find())
"""
ON_HOST = {
    "y.item()": "item",
    "y.view(-1)[0].cpu()": "copy",
    "z = lengths.max(); z.item()": "item",
    "z = (y == 3).sum() + lengths.sum() * 2; int(z)": "item",
    "if (y == 3).any(): out = out * 2": "truth",
    "y = y.long(); y.data.tolist()": "item",
    "total(y)": "item",
    "z = torch.tensor([len(table)], device='cuda'); z.item()": "item",
    "z = extra.to('cuda'); z[0].cpu()": "copy",
    "for row in y: row.item()": "item",
    "z = y[lengths]; z.cpu()": "copy",
    "s = table['batch']; s['y'] = extra.to('cuda'); s['y'].cpu()": "copy",
}
COMPUTED = {
    "out.sum().item()": "item",
    "(y + out).sum().item()": "item",
    "y[out > 0] = 0; y.cpu()": "copy",
    "y.add_(out); y.cpu()": "copy",
    "y += out; y.cpu()": "copy",
    "y.copy_(out); y.cpu()": "copy",
    "torch.distributed.all_reduce(y); y.cpu()": "copy",
    "torch.distributed.all_reduce(y[0]); y.cpu()": "copy",
    "torch.distributed.broadcast(lengths, 0); lengths.cpu()": "copy",
    "torch.randn_like(x).cpu()": "copy",
    "y[out.argmax(1)].cpu()": "copy",
    "y = out if table else y; y.cpu()": "copy",
    "total(y); total(out)": "item",
    "total(x); x.copy_(out); total(x)": "item",
    "z = out.to('cuda:0'); z.cpu()": "copy",
    "s = table['state']; s['sum'] = torch.zeros([]).to(x.device); s['sum'].item()": "item",
}


def origins(body: str, via: str) -> set[str]:
    """Return the origins of what a line of a training step reads."""
    found = facts((TOTAL if "total(" in body else "") + TEXT.replace("BODY", body))
    return {fact.origin for fact in found if isinstance(fact, HostRead) and fact.via == via}


@pytest.mark.parametrize("body", COMPUTED)
def test_what_the_device_computes_is_not_on_the_host(body: str) -> None:
    assert origins(body, COMPUTED[body]) == {""}


@pytest.mark.parametrize("body", ON_HOST)
def test_what_is_made_of_the_batch_alone_is_on_the_host(body: str) -> None:
    assert origins(body, ON_HOST[body]) == {"host"}


def test_a_copy_that_is_changed_stays_on_the_host() -> None:
    assert origins("z = y.cpu(); z[z > 3] = 0; z.item()", "item") == set()
    assert origins("z = y.to('cpu'); z[z > 3] = 0; z.item()", "item") == set()


def test_an_attribute_may_be_changed_elsewhere() -> None:
    assert origins("model.kept = y; model.kept.cpu()", "copy") == {""}


FROM_UNKNOWN = """
model = nn.Linear(3, 3).cuda()
def evaluate(loaders, kept):
    for x, y in loaders["test"]:
        MOVED
        loss = F.cross_entropy(model(x.cuda()), y)
        y.cpu()
"""


@pytest.mark.parametrize(
    ("moved", "origin"),
    [("y = y.cuda()", "host"), ("y = (y + model.weight.sum()).cuda()", "")],
)
def test_what_a_loop_takes_from_something_unknown_and_moves_is_a_batch(moved: str, origin: str) -> None:
    found = facts(FROM_UNKNOWN.replace("MOVED", moved))
    assert {fact.origin for fact in found if isinstance(fact, HostRead)} == {origin}
