"""A tensor that was left on the host is moved where it is made, or where a call or an index reads it."""

from __future__ import annotations

import pytest
from tests.fix.test_flow_fixes import fixed

CODE = """
def near(x, at):
    rows = torch.zeros(4, 12)
    rows = rows + 1
    {use}
    return rows

for x in loader:
    at = torch.randint(0, 12, (3,), device=device)
    loss = (model(x.to(device)) * near(x, at).sum()).mean()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    "use",
    [
        "rows[0][at] = 1",
        "rows[:, at] = 1",
        "rows[0][at] += 1",
        "rows.view(48)[at] = 1",
        "rows[0].scatter_(0, at, 1)",
    ],
)
def test_a_write_goes_into_no_copy(use: str) -> None:
    assert fixed(CODE.format(use=use), "XLA018") == []


def test_moves_what_an_index_reads() -> None:
    assert fixed(CODE.format(use="return rows[0][at]"), "XLA018") == ["return rows[0].to(device)[at]"]
