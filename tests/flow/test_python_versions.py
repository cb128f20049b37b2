"""Branches for a Python that torch does not run on any more."""

from __future__ import annotations

import pytest
from reading import guards

HERE = "torch.cuda.synchronize()"


def kinds(test: str, before: str = "") -> list[str]:
    return guards(f"import sys, six, torch\n{before}\nif {test}:\n {HERE}")


@pytest.mark.parametrize(
    "test",
    [
        "sys.version_info[0] == 2",
        "sys.version_info[0] < 3",
        "sys.version_info.major == 2",
        "sys.version_info < (3, 6)",
        "sys.version_info[:2] <= (3, 7)",
        "not sys.version_info >= (3,)",
        "sys.version_info[0] == 2 and torch.rand(1) > 0.5",
        "sys.version[0] == '2'",
        "six.PY2",
        "not six.PY3",
    ],
)
def test_code_for_python_2_never_runs(test: str) -> None:
    assert kinds(test) == ["never"]
    assert kinds("OLD", f"OLD = {test}") == ["never"]


@pytest.mark.parametrize(
    "test",
    [
        "sys.version_info[0] == 3",
        "sys.version_info >= (3, 6)",
        "sys.version_info > (3, 11)",  # on some of them
        "sys.version_info[1] < 3",
        "sys.version_info[0] == 2 or torch.rand(1) > 0.5",
        "versions.sys.version_info[0] == 2",
        "PY2",
        "six.PY3",
    ],
)
def test_code_that_may_run_has_no_guard(test: str) -> None:
    assert kinds(test) == [""]
