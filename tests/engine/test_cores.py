"""The default number of processes follows the limits of containers."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from xlamig.engine import cores

UNIFIED = {"cgroup": "0::/pod/app\n"}
LEGACY = {"cgroup": "4:cpu,cpuacct:/pod\n2:memory:/pod\n"}


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        pytest.param({}, 8, id="no control groups"),
        pytest.param(UNIFIED, 8, id="no limit file"),
        pytest.param({**UNIFIED, "fs/pod/app/cpu.max": "max 100000\n"}, 8, id="unlimited"),
        pytest.param({**UNIFIED, "fs/pod/app/cpu.max": "broken\n"}, 8, id="broken"),
        pytest.param({**UNIFIED, "fs/pod/app/cpu.max": "1600000 100000\n"}, 8, id="more than there are"),
        pytest.param({**UNIFIED, "fs/pod/app/cpu.max": "250000 100000\n"}, 3, id="two and a half"),
        pytest.param({**UNIFIED, "fs/pod/app/cpu.max": "5000 100000\n"}, 1, id="a part of one"),
        pytest.param({**UNIFIED, "fs/pod/cpu.max": "200000 100000\n"}, 2, id="the group above"),
        pytest.param({"cgroup": "0::/\n", "fs/cpu.max": "400000 100000\n"}, 4, id="inside a container"),
        pytest.param({**LEGACY, "fs/cpu,cpuacct/pod/cpu.cfs_quota_us": "-1\n"}, 8, id="unlimited, version 1"),
        pytest.param(
            {
                **LEGACY,
                "fs/cpu,cpuacct/cpu.cfs_quota_us": "300000\n",
                "fs/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
            },
            3,
            id="version 1",
        ),
    ],
)
def test_cores_are_cut_to_the_limits(
    files: dict[str, str], expected: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(cores, "_MEMBERSHIP", tmp_path / "cgroup")
    monkeypatch.setattr(cores, "_CONTROL", tmp_path / "fs")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    assert cores.usable_cores() == expected


def test_this_machine_has_a_core() -> None:
    assert cores.usable_cores() >= 1
