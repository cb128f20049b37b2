"""Modules that are programs: nothing imports them as a library."""

from __future__ import annotations

import pytest

from xlamig.flow.model.scripts import is_script, starts_program
from xlamig.syntax import module_from_text

STEP = "loss = model(x).sum()\n    loss.backward()\n    opt.step()\n"


@pytest.mark.parametrize(
    "source",
    [
        "for name in names:\n    register(name)\n",
        f"def train():\n  for x in data:\n    {STEP}",
        f"for x in data:\n  def step(model, opt):\n    {STEP}",
        "class Step:\n  for name in names:\n    loss.backward()\n",
        "x.backward()\n",
    ],
)
def test_a_library_is_no_program(source: str) -> None:
    assert not starts_program(module_from_text(source))


@pytest.mark.parametrize(
    "source",
    [
        "if __name__ == '__main__':\n    main()\n",
        "args = parser.parse_args()\n",
        f"for x in data:\n    {STEP}",
        f"for epoch in range(9):\n  i = 0\n  while i < 9:\n    {STEP}",
        f"try:\n  for x in data:\n    {STEP}except KeyboardInterrupt:\n  save()\n",
    ],
)
def test_starts_a_program(source: str) -> None:
    assert starts_program(module_from_text(source))


@pytest.mark.parametrize(
    ("body", "is_work"), [("setattr(Trainer, name, other(name))", False), ("run(name)", True)]
)
def test_a_loop_that_only_sets_attributes_makes_no_script(body: str, is_work: bool) -> None:
    assert is_script(module_from_text(f"for name in names:\n    {body}\n")) == is_work
