"""Tensors indexed by a tuple of positions and slices, written out or held in a variable."""

from __future__ import annotations

import pytest

from .said import said

DECODE = """
import itertools
device = torch_xla.device()
model = nn.Linear(8, 8).to(device)

@torch.no_grad()
def sample(n, shape):
    cache = torch.zeros(2, n, n, 8, device=device)
    x = torch.zeros(2, 8, device=device)
    first = (slice(None), slice(0, 1))
    LOOP:
        x = model(x)
        BODY
        torch_xla.sync()
    return cache

sample(5, (3, 4))
"""


def events(body: str, loop: str = "for i in range(n)") -> list[str]:
    return said(DECODE.replace("LOOP", loop).replace("BODY", body), "changing-constant")


@pytest.mark.parametrize(
    "body",
    [
        "cache[(slice(None), i)] = x[:, None]",
        "cache[(slice(None), slice(i, i + 1))] = x[:, None, None]",
        "at = (slice(None), i, ...); cache[at] = x[:, None]",
        "at = (slice(None),) + (i, i); cache[at] = x",
        "at = tuple([slice(None), i]); cache[at] = x[:, None]",
        "at = slice(i, i + 1); cache[:, at] = x[:, None, None]",
        "x = x + cache[(slice(None), i, i)]",
    ],
)
def test_reports_positions_in_a_tuple(body: str) -> None:
    assert len(events(body)) >= 1


@pytest.mark.parametrize(
    ("loop", "body"),
    [
        ("for i, j in itertools.product(range(n), range(n))", "cache[:, i, j] = x"),
        ("for i in itertools.product(*[range(k) for k in shape])", "cache[(slice(None), *i)] = x"),
        (
            "for _, i in enumerate(list(itertools.product(*[range(k) for k in shape])))",
            "at = (slice(None), *[slice(k, k + 1) for k in i]); cache[at] = x[:, None, None]",
        ),
    ],
)
def test_reports_positions_in_a_product_of_ranges(loop: str, body: str) -> None:
    assert len(events(body, loop)) >= 1


@pytest.mark.parametrize(
    "body",
    [
        "cache[first] = x[:, None, None]",
        "cache[(slice(None), 0)] = x[:, None]",
        "cache[(slice(None), [0, 1])] = x[:, None]",
        "cache[(slice(0, 2), slice(None, 1))] = x[:, None, None]",
        "table = {}; table[(i, 0)] = x",
        "x = x + cache[(..., *torch.tril_indices(2, 2))].sum()",
        "x = x + cache[(*torch.tril_indices(2, 2), *model.where)].sum()",
        "x = x + cache[()].sum()",
        "rows = [i, 0]; table = [x, x]; x = table[0]",
    ],
)
def test_reports_no_constant_positions_and_no_keys(body: str) -> None:
    assert events(body) == []


def test_reports_nothing_for_tuples_that_index_host_tensors() -> None:
    body = "table = torch.zeros(2, 9); table[(slice(None), i)] = 1.0"
    assert events(body) == []
