"""One Hypothesis profile for all tests: no result depends on how busy the machine is."""

from __future__ import annotations

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
