"""Advice for a place whose surroundings leave the usual advice without effect, or make it do harm."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine
from xlamig.findings import Finding


def found(text: str, code: str) -> list[Finding]:
    options = engine.Options({"select": [code]}, isolated=True, stdin=("run.py", text.encode()))
    return list(engine.check([Path("run.py")], options).findings)


SCORES = """import torch
@torch.no_grad()
def evaluate(model, loader, out, stats, file):
    model.to("xla")
    for name, x in loader:
        y = model(x.to("xla")).sum()
        {line}
"""


@pytest.mark.parametrize(
    ("line", "help_"),
    [
        ("print(f'{name} {y}')", "Log only every few hundred steps"),
        ("text = f'{name} {y}'; print(text)", "Log only every few hundred steps"),
        ("stats.set_postfix(score=f'{y:.2f}')", "Log only every few hundred steps"),
        ("out.append(f'{name} {y}')", "Keep `y` itself in a list"),
        ("text = '{} {}'.format(name, y); out.append(text)", "Keep `y` itself in a list"),
        ("file.write('%s %f' % (name, y))", "Keep `y` itself in a list"),
    ],
)
def test_texts_that_a_program_keeps_are_no_log(line: str, help_: str) -> None:
    (finding,) = found(SCORES.format(line=line), "XLA104")
    assert (finding.help or "").startswith(help_)
