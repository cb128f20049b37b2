from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from xlamig.config.errors import ConfigError
from xlamig.config.load import Resolver
from xlamig.config.settings import Settings, Target
from xlamig.config.versions import unmeasured


@pytest.mark.parametrize("value", ["new", "", ">=2.9", 2.9, ["2.9"]])
def test_what_is_no_version_is_refused(value: Any) -> None:
    with pytest.raises(ConfigError, match="target-version: expected a version such as"):
        Resolver({"target-version": value}, isolated=True)


def test_the_last_measured_version_counts_when_none_is_given() -> None:
    assert (Settings().version_of("torch_xla"), Settings().version_of("torch_tpu")) == ("2.9", "0.2")
    chosen = Resolver({"target-version": "2.7"}, isolated=True).settings_for(Path())
    assert (chosen.version_of("torch_xla"), chosen.version_of("torch_tpu")) == ("2.7", "0.2")


@pytest.mark.parametrize(
    ("target", "version", "warns"),
    [
        ("torch_xla", None, False),
        ("torch_xla", "2.5", False),
        ("torch_xla", "2.9.1+cpu", False),
        ("torch_xla", "2.4.1", True),
        ("torch_xla", "2.10", True),
        ("torch_tpu", "0.2.3", False),
        ("torch_tpu", "2.9", True),
    ],
)
def test_a_version_that_was_not_measured_is_told(target: Target, version: str | None, warns: bool) -> None:
    line = unmeasured(Settings(target=target, target_version=version))
    assert (line is not None) == warns
    assert line is None or f"{target} {version} was not measured" in line
