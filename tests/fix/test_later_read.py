"""Reads of the loss that move behind the boundary of their step."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine

HEAD = """import math
import sys

import torch
from torch import nn

device = torch.device("cuda")
model = nn.Linear(4, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def train(loader, args, meter, writer, history, scale):
    for i, (x, y) in enumerate(loader):
        x, y = x.to(device), y.to(device)
        penalty = model.weight.square().sum()
        error = nn.functional.mse_loss(model(x), y)
        loss = error + 0.1 * penalty
"""
UPDATE = """        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        torch_xla.sync()
"""
MOVED = [
    "meter.update(loss.item())",
    "meter.update(loss.item(), x.size(0))  # of the batch",
    "meter.update(error.detach().item(), args.batch_size)",
    "meters['loss'].update(loss.item(), n=len(x))",
    "history.append(loss.item())",
    "writer.add_scalar('loss', loss.item(), i)",
    "writer.add_scalar('loss', loss, global_step=i)",
    "print(f'{i}: {loss.item():.3f}')",
    "print('step {}: {}'.format(i, loss.item()))",
    "last = float(loss)",
    "wandb.log({'loss': loss.item(), 'error': error.item()})",
]
KEPT = [
    "scale = loss.item(); print(scale)",
    "meter.update(model.bias.item())",  # another value after the step
    "meter.update(scale.item())",
    "meter.update(loss.item(), scale)",
    "meter.update(loss.item(), norm(model))",
    "controller.update(loss.item())",  # may change a learning rate
    "writer.add_scalar('lr', loss.item(), optimizer.param_groups[0]['lr'])",
    "self.model.losses.extend([loss.item() for _ in range(2)])",
    "loss = loss / loss.item()",
    "loss /= loss.item()",
    "optimizer = pick(loss.item())",
    "if loss.item() > 3: break",
    "assert loss.item() < 9",
    "meter.update((yield loss.item()))",
]


def fixed(body: str, *codes: str, grades: frozenset[str] = frozenset({"safe"})) -> str:
    options = engine.Options(
        {"select": list(codes), "strategy": "native"},
        isolated=True,
        jobs=1,
        cache=False,
        stdin=("a.py", ("import torch_xla\n" + HEAD + body).encode()),
    )
    outcome = engine.fix([Path("a.py")], options, grades, write=False)
    text = outcome.stdin.text if outcome.stdin is not None else ""
    return text.removeprefix("import torch_xla\n" + HEAD)


@pytest.mark.parametrize("statement", MOVED)
def test_a_record_of_the_loss_moves_behind_the_boundary(statement: str) -> None:
    line = f"        {statement}\n"
    assert fixed(line + UPDATE, "XLA101", "XLA104") == UPDATE + line


@pytest.mark.parametrize("statement", KEPT)
def test_what_may_differ_after_the_update_stays(statement: str) -> None:
    body = f"        {statement}\n{UPDATE}"
    assert fixed(body, "XLA101", "XLA104") in (body, "")


@pytest.mark.parametrize(
    "between",
    [
        "loss = loss * 2",
        "print('computed')",
        "if i % 8:\n            continue",
        "x = x + loss.item()",
        "with torch.no_grad():\n            model.weight.add_(1)",
    ],
)
def test_nothing_but_the_update_is_passed(between: str) -> None:
    body = f"        meter.update(loss.item())\n        {between}\n{UPDATE}"
    assert fixed(body, "XLA101") in (body, "")


@pytest.mark.parametrize("other", ["top1.update(acc[0], x.size(0))", "average.update(error)"])
def test_another_meter_is_passed(other: str) -> None:
    line = "        losses.update(loss.item(), x.size(0))\n"
    moved = fixed(f"{line}        {other}\n{UPDATE}", "XLA101")
    assert moved == f"        {other}\n{UPDATE}{line}"


@pytest.mark.parametrize("other", ["scheduler.update(x)", "losses.update(1)", "top1.reset()"])
def test_what_is_no_other_meter_is_not_passed(other: str) -> None:
    body = f"        losses.update(loss.item(), x.size(0))\n        {other}\n{UPDATE}"
    assert fixed(body, "XLA101") in (body, "")


STOPS = [
    "assert not torch.isnan(loss)",
    "assert torch.isfinite(loss).all(), f'step {i}: {loss.item()}'",
    "if torch.isnan(loss):\n            raise ValueError(f'no loss in step {i}')",
    "if not math.isfinite(loss.item()):\n            print('bad', loss.item())\n            sys.exit(1)",
]
GOES_ON = [
    "if torch.isnan(loss):\n            continue",
    "if torch.isnan(loss):\n            break",
    "if torch.isnan(loss):\n            save(model)\n            raise ValueError",
    "if torch.isnan(loss):\n            optimizer.zero_grad()\n            raise ValueError('no loss')",
    "if torch.isnan(loss):\n            print('bad')",
    "assert torch.isfinite(model.weight).all()",
]
BOTH = frozenset({"safe", "unsafe"})


@pytest.mark.parametrize("statement", STOPS)
def test_a_check_that_stops_the_program_moves_with_unsafe_fixes(statement: str) -> None:
    line = f"        {statement}\n"
    assert fixed(line + UPDATE, "XLA107", grades=BOTH) == UPDATE + line
    assert fixed(line + UPDATE, "XLA107") in (line + UPDATE, "")


CALLS = "\n\ndef main(loader):\n    train(loader, None, None, None, None, None)\n\n\ntry:\n    main([])\n"


@pytest.mark.parametrize(
    "handler", ["except KeyboardInterrupt:\n    pass\n", "except ImportError:\n    pass\n"]
)
def test_a_check_moves_where_the_try_is_for_something_else(handler: str) -> None:
    line = f"        {STOPS[0]}\n"
    assert fixed(line + UPDATE + CALLS + handler, "XLA107", grades=BOTH) == UPDATE + line + CALLS + handler


@pytest.mark.parametrize(
    "handler",
    [
        "except AssertionError:\n    print(model)\n",
        "except:\n    pass\n",
        "finally:\n    torch.save(model, 'm')\n",
    ],
)
def test_a_check_stays_where_a_try_may_go_on(handler: str) -> None:
    code = f"        {STOPS[0]}\n" + UPDATE + CALLS + handler
    assert fixed(code, "XLA107", grades=BOTH) in (code, "")


@pytest.mark.parametrize("statement", GOES_ON)
def test_a_check_that_does_more_than_stop_stays(statement: str) -> None:
    body = f"        {statement}\n{UPDATE}"
    assert fixed(body, "XLA107", grades=BOTH) in (body, "")


def test_records_keep_their_order() -> None:
    lines = "        print(loss.item())\n        meter.update(loss.item())\n"
    clip = UPDATE.replace(
        "        optimizer.step()",
        "        if args.clip:\n            norm = nn.utils.clip_grad_norm_(model.parameters(), args.clip)\n"
        "        optimizer.step()",
    )
    assert fixed(lines + clip, "XLA101", "XLA104") == clip + lines


def test_a_statement_between_backward_and_step_moves() -> None:
    line = "        meter.update(loss.item())\n"
    body = UPDATE.replace("        optimizer.step()\n", line + "        optimizer.step()\n")
    assert fixed(body, "XLA101") == UPDATE + line


def test_a_scaled_loss_is_one_of_the_losses() -> None:
    update = UPDATE.replace("loss.backward()", "scaler.scale(loss).backward()").replace(
        "optimizer.step()", "scaler.step(optimizer)\n        scaler.update()"
    )
    line = "        meter.update(loss.item())\n"
    assert fixed(line + update, "XLA101") == update + line


def test_without_a_boundary_nothing_moves() -> None:
    body = "        meter.update(loss.item())\n" + UPDATE.replace("        torch_xla.sync()\n", "")
    assert fixed(body, "XLA101") in (body, "")
