from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from xlamig.facts import Guard

Page = Callable[..., Any]
NAME = "torch.set_default_device"


def fixed(page: Page, text: str, call: str, **fields: Any) -> str | None:
    p = page(text, target="torch_tpu")
    return p.fixed("device-argument", p.call(call, NAME, **fields), argument="0")


@pytest.mark.parametrize("argument", ["place", "'cuda:1'", "None", "f'cuda:{i}'", "'cpu'"])
def test_other_devices_and_names_stay(page: Page, argument: str) -> None:
    call = f"{NAME}({argument})"
    assert fixed(page, f"import torch\n{call}\n", call) is None


def test_it_stays_where_the_target_does_not_come(page: Page) -> None:
    call = f"{NAME}('cuda')"
    guards = (Guard("cuda", "torch.cuda.is_available()", (0, 0)),)
    assert fixed(page, f"import torch\n{call}\n", call, guards=guards) is None


def test_an_absent_argument_is_none_to_replace(page: Page) -> None:
    call = f"{NAME}()"
    assert fixed(page, f"import torch\n{call}\n", call) is None


def test_the_literal_becomes_the_device(page: Page) -> None:
    call = f"{NAME}('cuda')"
    device = 'torch.device(torch.accelerator.current_accelerator() or "cpu")'
    assert fixed(page, f"import torch\n{call}\n", call) == f"import torch\n{NAME}({device})\n"


def test_a_device_in_scope_serves(page: Page) -> None:
    call = f"{NAME}('cuda:0')"
    text = "import torch\ndef f(device: torch.device):\n    torch.set_default_device('cuda')\n"
    proofs = {"device-in-scope": "device"}
    fixed_text = fixed(page, text, call.replace(":0", ""), proofs=proofs)
    assert fixed_text == text.replace("'cuda'", "device")
