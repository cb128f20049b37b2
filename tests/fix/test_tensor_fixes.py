"""Rewrites of tensor code that depend on what is known of the tensors, from source to source."""

from __future__ import annotations

import pytest

from .test_flow_fixes import fixed

STEP = """
best = torch.full((), 9.0, device=device)
data = torch.zeros(100, 4).to(device)
for i in range(0, 100, 4):
    y = model(data[:4])
    loss, other = y.sum(), y.square().mean()
    k = y[:, 0].argmax()
    mask = y > 0
    {}
    loss.backward()
    optimizer.step()
"""
EXPONENT = "torch.tensor({0}, dtype=torch.result_type(y, {0}), device=y.device)"


@pytest.mark.parametrize(
    ("rule", "statement", "written"),
    [
        ("XLA108", "z = max(loss, other)", "z = torch.where(other > loss, other, loss)"),
        ("XLA108", "best = min(best, loss)", "best = torch.where(loss < best, loss, best)"),
        ("XLA108", "z = max(loss, 2 * other)", None),  # it would stand there twice
        ("XLA108", "z = max(loss, other, key=abs)", None),
        ("XLA108", "z = max(loss, y[0])", None),  # maybe not 0-d
        ("XLA108", "z = max(loss, 0.5)", None),
        ("XLA108", "z = max([loss, other])", None),
        (
            "XLA108",
            "z = torch.tensor([loss, other])",
            'z = torch.stack([loss, other]).detach().to("cpu")',
        ),
        (
            "XLA108",
            "z = torch.tensor((loss, other), device=device, dtype=torch.float64)",
            "z = torch.stack([loss, other]).detach().to(device=device, dtype=torch.float64)",
        ),
        ("XLA108", "z = torch.tensor([loss, other, 0.5])", None),
        ("XLA108", "z = torch.tensor([loss, y])", None),
        ("XLA108", "z = torch.tensor([loss, other], requires_grad=True)", None),
        ("XLA109", "z = y[k] * 2", "z = y[k[None]].squeeze(0) * 2"),
        ("XLA109", "z = f(y[k].unsqueeze(0))", "z = f(y[k[None]])"),
        ("XLA109", "z = f(y[k][None])", "z = f(y[k[None]])"),
        ("XLA109", "z = f(y[:, k].unsqueeze(1))", "z = f(y[:, k[None]])"),
        ("XLA109", "z = f(y[k].unsqueeze(1))", "z = f(y[k[None]].squeeze(0).unsqueeze(1))"),
        ("XLA109", "z = f(y[:, k][None])", "z = f(y[:, k[None]].squeeze(1)[None])"),
        ("XLA109", "z = f(y[:, k])", "z = f(y[:, k[None]].squeeze(1))"),
        ("XLA109", "z = y[k % 3]; w = z + 1", "z = y[(k % 3)[None]].squeeze(0); w = z + 1"),
        ("XLA109", "z = y[k]; z += 1", None),  # it was a view
        ("XLA109", "z = y[k]; z[0] = 1", None),
        ("XLA109", "z = y[k].zero_()", None),
        ("XLA109", "y.data[k] = 1.0", "y.data[k[None]] = 1.0"),
        ("XLA109", "y.data[:, k] = 1.0", None),
        ("XLA109", "y.data[k] += 1.0", None),
        ("XLA109", "z = y[k, 0]", None),
        ("XLA202", "z = y[mask].sum(0)", None),
        ("XLA202", "z = y[mask]", None),
        ("XLA202", "z = model(y)[mask].sum()", None),  # the model would run twice
        ("XLA202", "z = y[y > 0].sum()", "z = torch.where(y > 0, y, 0).sum()"),
        ("XLA202", "z = 2 / y[mask].mean()", "z = 2 / (torch.where(mask, y, 0).sum() / mask.sum())"),
        (
            "XLA202",
            "m = other.abs() > 0; z = torch.sum(y[m])",
            "m = other.abs() > 0; z = torch.where(m.view(m.shape + (1,) * (y.dim() - m.dim())), y, 0).sum()",
        ),
        (
            "XLA202",
            "z = y.eq(other).masked_select(other.abs() > 0).sum()",  # each is computed once
            "z = torch.where(other.abs() > 0, y.eq(other), 0).sum()",
        ),
        ("XLA202", "z = y.eq(other).masked_select(y.eq(other)).mean()", None),
        ("XLA202", "m = other.abs() > 0; z = y.masked_select(m).mean()", None),  # of how many elements?
        (
            "XLA202",
            "m = other.abs() > 0; z = y.masked_select(m).sum()",  # broadcasts, where an index does not
            "m = other.abs() > 0; z = torch.where(m, y, 0).sum()",
        ),
        ("XLA204", "z = torch.bincount(k)", None),
        ("XLA204", "z = torch.bincount(k, weights=y, minlength=3)", None),
        (
            "XLA204",
            "z = torch.bincount(k, minlength=3)",
            "z = torch.nn.functional.one_hot(k.long(), 3).sum(0)",
        ),
        ("XLA304", "z = y ** i", f"z = y ** {EXPONENT.format('i')}"),
        ("XLA304", "y **= 1 + i / 10", f"y **= {EXPONENT.format('1 + i / 10')}"),
        ("XLA304", "z = model(y) ** i", None),
        ("XLA304", "z = 2 ** i", None),
    ],
)
def test_tensor_code(rule: str, statement: str, written: str | None) -> None:
    assert fixed(STEP.format(statement), rule) == ([written] if written else [])


def test_what_is_no_tensor_in_the_first_round_stays() -> None:
    loop = """
    best = 1e9
    for x in loader:
        loss = model(x.to(device)).sum()
        loss.backward()
        optimizer.step()
        best = min(best, loss.detach())
    """
    assert fixed(loop, "XLA108") == []
