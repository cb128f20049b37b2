from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from xlamig.findings import Fix
from xlamig.fix.edits import choose

Page = Callable[..., Any]
XM = "torch_xla.core.xla_model"
SYNC = {"row": {"replace": {"torch_xla": "torch_xla.sync"}, "accepts": ["wait", "reset_scope"]}}
HEAD = f"import {XM} as xm\n"


@pytest.mark.parametrize("call", ["xm.mark_step(1, 2, 3)", "xm.mark_step(barrier=True)", "xm.mark_step(*a)"])
def test_arguments_the_successor_lacks(page: Page, call: str) -> None:
    p = page(f"{HEAD}{call}\n")
    assert p.draft("rename-api", p.call(call, f"{XM}.mark_step"), **SYNC) is None


def test_without_accepts_a_known_signature_takes_no_arguments(page: Page) -> None:
    row = {"signature": ["wait"], "replace": {"torch_xla": "torch_xla.sync"}}
    p = page(f"{HEAD}xm.mark_step(wait=True)\nxm.mark_step()\n")
    assert p.draft("rename-api", p.call("xm.mark_step(wait=True)", f"{XM}.mark_step"), row=row) is None
    assert p.draft("rename-api", p.call("xm.mark_step()", f"{XM}.mark_step"), row=row) is not None


def test_no_successor_on_this_target(page: Page) -> None:
    p = page(f"{HEAD}xm.mark_step()\n", target="torch_tpu")
    assert p.draft("rename-api", p.call("xm.mark_step()", f"{XM}.mark_step"), **SYNC) is None


def test_a_cuda_program_does_not_import_torch_xla_under_portable(page: Page) -> None:
    p = page("import torch\ntorch.cuda.synchronize()\n")
    fact = p.call("torch.cuda.synchronize()", "torch.cuda.synchronize")
    assert p.draft("rename-api", fact, replace="torch_xla.sync", arguments="wait=True") is None


def test_a_name_that_is_taken(page: Page) -> None:
    p = page(f"{HEAD}torch_xla = 1\nxm.mark_step()\n")
    assert p.draft("rename-api", p.call("xm.mark_step()", f"{XM}.mark_step"), **SYNC) is None


@pytest.mark.parametrize(
    "text",
    [
        "try:\n    from {xm} import mark_step\nexcept ImportError:\n    mark_step = None\nmark_step()\n",
        "from {xm} import mark_step\n__all__ = ['mark_step']\nmark_step()\n",
        "from {xm} import mark_step\ndef sync(): ...\nmark_step()\n",
        "from {xm} import mark_step\ndef f(mark_step): ...\nmark_step()\n",
        "from {xm} import mark_step\nmark_step(other=1)\nmark_step()\n",
        "from {xm} import mark_step\nrun(mark_step)\nmark_step()\n",
        "from {xm} import mark_step\ndef f():\n    global mark_step\nmark_step()\n",
        "from {xm} import (a,  # why\n    mark_step)\nmark_step()\n",
        "from {xm} import a, mark_step; b()\nmark_step()\n",
    ],
)
def test_an_imported_name_of_which_one_use_cannot_go(page: Page, text: str) -> None:
    text = text.replace("{xm}", XM)
    p = page(text)
    fact = p.call("mark_step()", f"{XM}.mark_step")
    assert p.draft("rename-api", fact, **SYNC) is None


def test_imports_of_an_init_file_may_be_used_elsewhere(page: Page) -> None:
    p = page(f"from {XM} import mark_step\nmark_step()\n", "pkg/__init__.py")
    assert p.draft("rename-api", p.call("mark_step()", f"{XM}.mark_step"), **SYNC) is None


@pytest.mark.parametrize("call", ["xm.mark_step()", "xm.mark_step(wait=True)", "xm.mark_step( True )"])
def test_attribute_keeps_its_arguments(page: Page, call: str) -> None:
    p = page(f"{HEAD}{call}  # step\n")
    new = call.replace("xm.mark_step", "torch_xla.sync")
    fixed = p.fixed("rename-api", p.call(call, f"{XM}.mark_step"), **SYNC)
    assert fixed == f"{HEAD}import torch_xla\n{new}  # step\n"


def test_dotted_import_needs_no_other(page: Page) -> None:
    p = page(f"import {XM}\n{XM}.mark_step()\n")
    fixed = p.fixed("rename-api", p.call(f"{XM}.mark_step()", f"{XM}.mark_step"), **SYNC)
    assert fixed == f"import {XM}\ntorch_xla.sync()\n"


def test_same_module_changes_only_the_last_name(page: Page) -> None:
    p = page("import torch.cuda as c\nc.memory_cached()\n")
    fact = p.call("c.memory_cached()", "torch.cuda.memory_cached")
    fixed = p.fixed("rename-api", fact, replace="torch.cuda.memory_reserved")
    assert fixed == "import torch.cuda as c\nc.memory_reserved()\n"


def test_new_arguments(page: Page) -> None:
    p = page("import torch\ntorch.cuda.synchronize(dev)\n", style="native")
    fact = p.call("torch.cuda.synchronize(dev)", "torch.cuda.synchronize")
    fixed = p.fixed("rename-api", fact, replace="torch_xla.sync", arguments="wait=True")
    assert fixed == "import torch\nimport torch_xla\ntorch_xla.sync(wait=True)\n"


def test_torch_is_known_under_its_alias(page: Page) -> None:
    p = page("import torch as t\nt.cuda.empty_cache()\n", target="torch_tpu")
    fact = p.call("t.cuda.empty_cache()", "torch.cuda.empty_cache")
    fixed = p.fixed("rename-api", fact, replace="torch.accelerator.empty_cache")
    assert fixed == "import torch as t\nt.accelerator.empty_cache()\n"


@pytest.mark.parametrize(
    "text",
    [
        "try:\n    import {xm} as xm\nexcept ImportError:\n    xm = None\nif xm:\n    xm.mark_step()\n",
        "if use_xla:\n    import {xm} as xm\n\ndef f():\n    xm.mark_step()\n",
        "def f():\n    import {xm} as xm\n    xm.mark_step()\n",
    ],
)
def test_a_conditional_import_gets_its_companion_beside_it(page: Page, text: str) -> None:
    text = text.replace("{xm}", XM)
    p = page(text)
    fixed = p.fixed("rename-api", p.call("xm.mark_step()", f"{XM}.mark_step"), **SYNC)
    beside = text.replace("    import", "    import torch_xla\n    import", 1)
    assert fixed == beside.replace("xm.mark_step()", "torch_xla.sync()")


def test_a_stand_in_of_the_file_keeps_its_name(page: Page) -> None:
    p = page(f"try:\n    import {XM} as xm\nexcept ImportError:\n    class xm: ...\nxm.mark_step()\n")
    assert p.draft("rename-api", p.call("xm.mark_step()", f"{XM}.mark_step"), **SYNC) is None


def test_from_torch_import_cuda(page: Page) -> None:
    p = page("from torch import cuda\ncuda.empty_cache()\n", target="torch_tpu")
    fact = p.call("cuda.empty_cache()", "torch.cuda.empty_cache")
    fixed = p.fixed("rename-api", fact, replace="torch.accelerator.empty_cache")
    assert fixed == "from torch import cuda\nimport torch\ntorch.accelerator.empty_cache()\n"


def test_an_imported_module_is_used_under_its_alias(page: Page) -> None:
    head = f"import {XM} as xm\nfrom torch_xla import runtime as xr\n"
    p = page(f"{head}xm.get_ordinal()\n")
    fact = p.call("xm.get_ordinal()", f"{XM}.get_ordinal")
    assert p.fixed("rename-api", fact, replace="torch_xla.runtime.global_ordinal") == (
        f"{head}xr.global_ordinal()\n"
    )


def test_an_imported_name_is_renamed_everywhere(page: Page) -> None:
    text = f"from {XM} import a, mark_step\nmark_step()\ndef f():\n    mark_step(wait=True)\n"
    p = page(text)
    facts = [p.call("mark_step()", f"{XM}.mark_step"), p.call("mark_step(wait=True)", f"{XM}.mark_step")]
    drafts = [p.draft("rename-api", fact, **SYNC) for fact in facts]
    assert drafts[0] == drafts[1]  # one fix, whichever finding brings it
    assert len(choose([Fix(d.message, "safe", d.edits) for d in drafts])[0]) == 2
    assert p.fixed("rename-api", facts[0], **SYNC) == (
        f"from torch_xla import sync\nfrom {XM} import a\nsync()\ndef f():\n    sync(wait=True)\n"
    )


def test_a_sole_import_changes_its_module(page: Page) -> None:
    p = page(f"from {XM} import mark_step\nmark_step()\n")
    fixed = p.fixed("rename-api", p.call("mark_step()", f"{XM}.mark_step"), **SYNC)
    assert fixed == "from torch_xla import sync\nsync()\n"


def test_an_alias_keeps_its_uses(page: Page) -> None:
    p = page(f"from {XM} import mark_step as step\nstep()\n")
    fixed = p.fixed("rename-api", p.call("step()", f"{XM}.mark_step"), **SYNC)
    assert fixed == "from torch_xla import sync as step\nstep()\n"


def test_a_renamed_module(page: Page) -> None:
    p = page("import torch_xla.experimental.xla_sharding as xs\nxs.Mesh(1)\n")
    fact = p.use("torch_xla.experimental.xla_sharding", "torch_xla.experimental.xla_sharding")
    fixed = p.fixed("rename-api", fact, replace="torch_xla.distributed.spmd")
    assert fixed == "import torch_xla.distributed.spmd as xs\nxs.Mesh(1)\n"
