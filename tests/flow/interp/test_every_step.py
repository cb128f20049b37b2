"""Functions that an object of another library calls every step."""

from __future__ import annotations

import pytest

from .said import facts

PROGRAM = """
from functools import partial
import ignite.engine, mmcv.runner
from ignite.engine import Engine
from mmcv.runner import Runner
from other import Engine as Another
def process(model, batch, scale=1):
    return model(batch["x"]).sum().item() * scale
def create(model, optimizer, device, cfg):
    def update(engine, batch):
        loss = model(batch.to(device)).sum()
        return loss.item()
    MADE
"""


def frequencies(made: str) -> set[str]:
    """Return how often the losses are read."""
    return {fact.frequency for fact in facts(PROGRAM.replace("MADE", made)) if fact.kind == "host-read"}


@pytest.mark.parametrize(
    "made",
    [
        "return Another(update), Another(process)",
        "return update",
        "Runner(process, model)",  # in the place of the model
        "Engine(cfg, process)",
        "Engine(model).run(process)",
    ],
)
def test_what_nothing_is_known_to_call_every_step(made: str) -> None:
    assert "step" not in frequencies(made)


@pytest.mark.parametrize(
    "made",
    [
        "return Engine(update)",
        "trainer = ignite.engine.Engine(process_function=update)",
        "runner = Runner(model, process, cfg.work_dir)",
        "runner = mmcv.runner.EpochBasedRunner(model, batch_processor=process)",
        "runner = Runner(model, partial(process, scale=2))",
    ],
)
def test_an_engine_calls_its_function_every_step(made: str) -> None:
    assert "step" in frequencies(made)
