from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from xlamig.facts import ApiUse, Value

Page = Callable[..., Any]
WORDS = {"half": "bfloat16", "float16": "bfloat16", "fp16": "bf16"}
CHECKPOINT = "torch.utils.checkpoint.checkpoint"
SUCCESSOR = {"replace": f"torch_xla.{CHECKPOINT[6:]}", "passes": {"use_reentrant": True}}


def halved(page: Page, call: str, name: str = "f", **api: str) -> str | None:
    """The call in bfloat16; `api` says which arguments are names of torch, and of what."""
    p = page(f"x = {call}\n")
    fact = p.call(call, name)
    args = tuple(replace(a, value=Value("api", api[a.name])) if a.name in api else a for a in fact.args)
    fixed: str | None = p.fixed("rename-precision", replace(fact, args=args), words=WORDS)
    return fixed and fixed.removeprefix("x = ").rstrip("\n")


@pytest.mark.parametrize(
    ("call", "api"),
    [
        ("f(dtype=dtype)", {"dtype": "torch.float16"}),  # a variable is other code's too
        ("f(dtype=float16)", {"dtype": "torch.float16"}),
        ("f(dtype=torch.float32)", {"dtype": "torch.float32"}),
        ("f(fp16=False)", {}),
        ("f(fp16=flag)", {}),
        ("f(fp16=True, bf16=False)", {}),
        ("f(fp16=True, **kwargs)", {}),
        ('f(name="half-life")', {}),
        ("f(precision=PRECISION)", {}),
    ],
)
def test_what_is_not_written_in_the_call_stays(page: Page, call: str, api: dict[str, str]) -> None:
    assert halved(page, call, **api) is None


@pytest.mark.parametrize(
    ("call", "name", "api", "after"),
    [
        ("m.half()", "Module.half", {}, "m.bfloat16()"),
        ("g(a).half( )", "unknown.half", {}, "g(a).bfloat16( )"),
        ("x.to(torch.half)", "Tensor.to", {"0": "torch.half"}, "x.to(torch.bfloat16)"),
        ("f(a, dtype=t.float16)", "f", {"dtype": "torch.float16"}, "f(a, dtype=t.bfloat16)"),
        ("f(torch_dtype='float16')", "f", {}, "f(torch_dtype='bfloat16')"),
        ('f(mixed_precision="fp16")', "f", {}, 'f(mixed_precision="bf16")'),
        ("f(fp16=True, lr=1)", "f", {}, "f(bf16=True, lr=1)"),
    ],
)
def test_rename_precision(page: Page, call: str, name: str, api: dict[str, str], after: str) -> None:
    assert halved(page, call, name, **api) == after


# ------------------------------------------------------------------------------ checkpointing


def swapped(page: Page, text: str, call: str) -> str | None:
    p = page(text, style="native")
    fixed: str | None = p.fixed("rename-where-passed", p.call(call, CHECKPOINT), **SUCCESSOR)
    return fixed


IMPORTED = f"from {CHECKPOINT.rpartition('.')[0]} import checkpoint\n"


@pytest.mark.parametrize(
    "more",
    [
        "y = checkpoint(g, x)",
        "y = checkpoint(g, x, use_reentrant=False)",
        "y = checkpoint(g, x, use_reentrant=flag)",
        "y = partial(checkpoint, use_reentrant=True)",
    ],
)
def test_another_use_of_the_import_keeps_it(page: Page, more: str) -> None:
    call = "checkpoint(f, x, use_reentrant=True)"
    assert swapped(page, f"{IMPORTED}y = {call}\n{more}\n", call) is None


def test_the_import_goes_with_calls_that_all_agree(page: Page) -> None:
    call = "checkpoint(f, x, use_reentrant=True)"
    text = f"{IMPORTED}y = {call}\nz = checkpoint(g, x, y, use_reentrant=True)\n"
    assert swapped(page, text, call) == text.replace("torch.utils", "torch_xla.utils")


def test_a_dotted_call_stands_for_itself(page: Page) -> None:
    call = f"{CHECKPOINT}(f, x, use_reentrant=True)"
    text = f"import torch\nimport torch_xla\ny = {call}\nz = {CHECKPOINT}(g, x)\n"
    assert swapped(page, text, f"{CHECKPOINT}(g, x)") is None
    fixed = swapped(page, text, call)
    assert fixed is not None and f"y = torch_xla.{CHECKPOINT[6:]}(f, x, use_reentrant=True)\n" in fixed
    assert f"z = {CHECKPOINT}(g, x)\n" in fixed


# ------------------------------------------------------------------------------ seeds


def seeded(page: Page, text: str, call: str, device: str = "", **settings: Any) -> str | None:
    p = page(text, **settings)
    proofs = {"device-in-scope": device} if device else {}
    fact: ApiUse = p.call(call, "torch.manual_seed", proofs=proofs)
    fixed: str | None = p.fixed("seed-xla", fact)
    return fixed


@pytest.mark.parametrize("seed", ["cfg['train']['seed']", "args.seed + rank"])
def test_a_seed_of_the_settings(page: Page, seed: str) -> None:
    call = f"torch.manual_seed({seed})"
    fixed = seeded(page, f"import torch\n{call}\n", call, style="native")
    assert fixed is not None and f"torch_xla.manual_seed({seed})\n" in fixed


@pytest.mark.parametrize(
    ("statement", "call"),
    [
        ("g = torch.manual_seed(1)", "torch.manual_seed(1)"),
        ("torch.manual_seed(1); f()", "torch.manual_seed(1)"),
        ("if f(): torch.manual_seed(1)", "torch.manual_seed(1)"),
        ("torch.manual_seed(next_seed())", "torch.manual_seed(next_seed())"),
        ("torch.manual_seed(*seeds)", "torch.manual_seed(*seeds)"),
    ],
)
def test_a_seed_that_cannot_be_repeated_below(page: Page, statement: str, call: str) -> None:
    assert seeded(page, f"import torch\n{statement}\n", call, style="native") is None


def test_no_seed_for_torch_xla_where_lightning_may_choose_one(page: Page) -> None:
    def fixed(text: str, call: str) -> str | None:
        p = page(text, style="native")
        written: str | None = p.fixed("seed-xla", p.call(call, "lightning.pytorch.seed_everything"))
        return written

    assert fixed("seed_everything(None)\n", "seed_everything(None)") is None
    assert fixed("def f(s=None):\n    seed_everything(s)\n", "seed_everything(s)") is None
    assert "torch_xla.manual_seed(s)" in str(
        fixed("def f(s=1):\n    seed_everything(s)\n", "seed_everything(s)")
    )


def test_portable_code_that_can_import_the_helper(page: Page) -> None:
    fixed = seeded(page, "def f(n):\n    torch.manual_seed(n)  # all\n", "torch.manual_seed(n)")
    assert fixed == (
        "from xla_compat import seed_xla\ndef f(n):\n    torch.manual_seed(n)  # all\n    seed_xla(n)\n"
    )


def test_a_process_that_starts_others_is_not_the_one_that_uses_the_device(page: Page) -> None:
    text = "import torch\ntorch.manual_seed(1)\ntorch.multiprocessing.spawn(run)\n"
    assert seeded(page, text, "torch.manual_seed(1)") is None


def test_native_code(page: Page) -> None:
    fixed = seeded(page, "import torch\ntorch.manual_seed(1)", "torch.manual_seed(1)", style="native")
    assert fixed == "import torch\nimport torch_xla\ntorch.manual_seed(1)\ntorch_xla.manual_seed(1)"
