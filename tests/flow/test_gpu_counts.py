"""Tests of how many GPUs there are, where they decide on work that processes share."""

from __future__ import annotations

import pytest

from xlamig.facts import ApiUse, Interest
from xlamig.flow import facts_of
from xlamig.syntax import module_from_text

USES_CUDA = "def build(cfg, model):\n    if cfg.NUM_GPUS:\n        model = model.cuda()\n"


def counts(body: str, before: str = USES_CUDA) -> list[tuple[str, bool]]:
    """Return the numbers of GPUs that a program asks for, each with whether shared work depends on it."""
    text = f"import torch\nfrom torch import nn\nimport du\n{before}{body}\n"
    interest = Interest(names=frozenset({"torch.cuda.device_count"}))
    found = facts_of(module_from_text(text), text, "train", False, interest, {}).facts
    uses = [fact for fact in found if isinstance(fact, ApiUse) and fact.name == "torch.cuda.device_count"]
    return [(use.spelled, "shared-work" in use.context) for use in uses]


WRAP = "        model = nn.parallel.DistributedDataParallel(module=model)"


@pytest.mark.parametrize(
    ("test", "then"),
    [
        ("cfg.NUM_GPUS > 1", WRAP),
        ("cfg.NUM_GPUS", WRAP),
        ("cfg.NUM_GPUS > 1 and cfg.sync", WRAP),
        ("cfg.NUM_GPUS != 1", "        loss = du.all_reduce([loss])"),
    ],
)
def test_finds_an_option_that_a_tpu_host_sets_to_0(test: str, then: str) -> None:
    assert counts(f"    if {test}:\n{then}") == [("cfg.NUM_GPUS", True)]


@pytest.mark.parametrize(
    ("body", "before"),
    [
        (f"def build(cfg, model):\n    if cfg.NUM_GPUS > 1:\n{WRAP}", ""),  # as many processes, whatever on
        (f"    if cfg.NUM_WORKERS > 1:\n{WRAP}", USES_CUDA),
        (f"    if cfg.NUM_GPUS <= 1:\n        return model\n    if cfg.shards > 1:\n{WRAP}", USES_CUDA),
        ("    if cfg.NUM_GPUS > 1:\n        model = nn.DataParallel(model)", USES_CUDA),  # is not to run
        ("    if cfg.NUM_GPUS > 1:\n        print('several')", USES_CUDA),
    ],
)
def test_leaves_other_numbers_alone(body: str, before: str) -> None:
    assert counts(body, before) == []


def test_knows_what_the_number_of_cuda_devices_decides() -> None:
    body = f"def build(model):\n    if torch.cuda.device_count() > 1:\n{WRAP}"
    assert counts(body, "") == [("torch.cuda.device_count", True)]
    body = "def build(model):\n    if torch.cuda.device_count() > 1:\n        model = nn.DataParallel(model)"
    assert counts(body, "") == [("torch.cuda.device_count", False)]


COUNT = "    if torch.cuda.device_count() > 1:\n"


@pytest.mark.parametrize(
    ("body", "only_wraps"),
    [
        (f"{COUNT}        model = nn.DataParallel(model)", True),
        (f"{COUNT}        print('several')\n        model.net = nn.DataParallel(model.net, [0, 1])", True),
        (f"{COUNT}        model = nn.DataParallel(model)\n        size = 2 * size", False),
        (f"{COUNT}        model = nn.DataParallel(model)\n    else:\n        size = 1", False),
        (f"{COUNT}        size = 2 * size", False),
        (f"{COUNT}        print('several')", False),
    ],
)
def test_knows_where_the_number_only_wraps_for_the_gpus_of_one_process(body: str, only_wraps: bool) -> None:
    text = f"import torch\nfrom torch import nn\n\n\ndef build(model, size):\n{body}\n    return model\n"
    interest = Interest(names=frozenset({"torch.cuda.device_count"}))
    facts = facts_of(module_from_text(text), text, "train", False, interest, {}).facts
    (use,) = (fact for fact in facts if isinstance(fact, ApiUse))
    assert ("data-parallel" in use.context) is only_wraps


NOTE = "def note(text):\n    LOG.write(text + '\\n')\n    LOG.flush()\n{0}\n"
TWICE = f"def build(model):\n{COUNT}        note('several')\n        model = nn.DataParallel(model)"


@pytest.mark.parametrize(
    ("last", "wraps"), [("    print(text)", True), ("    LOG.close()", False), ("    count(text)", False)]
)
def test_a_function_that_also_writes_what_it_prints_only_logs(last: str, wraps: bool) -> None:
    before = NOTE.format(last)
    text = f"import torch\nfrom torch import nn\n{before}{TWICE}\n"
    interest = Interest(names=frozenset({"torch.cuda.device_count"}))
    (use,) = facts_of(module_from_text(text), text, "train", False, interest, {}).facts
    assert ("data-parallel" in use.context) is wraps
