"""One Hypothesis profile and one heap for all tests: no result depends on how busy the machine is."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

FEW, MANY = 20, 100  # examples of the fast suite, and of all others


def pytest_configure(config: pytest.Config) -> None:
    settings.register_profile(
        "xlamig",
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
        max_examples=FEW if "not slow" in config.option.markexpr else MANY,
    )
    settings.load_profile("xlamig")


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Leave the 20,000 collected tests out of each garbage collection."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def user_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that stands for the user's own, for the caches of all tests."""
    return tmp_path_factory.mktemp("user")
