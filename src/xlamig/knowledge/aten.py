"""Facts about single aten operators that the measured tables cannot have."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

DATA = Path(__file__).parent / "data" / "aten.toml"


@dataclass(frozen=True, slots=True)
class OneDevice:
    """torch_xla has a kernel for the operator, but not on the device of `falls_back_on`."""

    aten: str
    falls_back_on: Literal["cpu-client", "tpu"]
    when: str
    names: tuple[str, ...]  # the public names that call it


@dataclass(frozen=True, slots=True)
class MadeOf:
    """The operators that a name runs; `backward` is None where there is no gradient."""

    name: str
    forward: tuple[str, ...]
    backward: tuple[str, ...] | None


@cache
def _content() -> Mapping[str, Any]:
    return tomllib.loads(DATA.read_text(encoding="utf-8"))


@cache
def one_device() -> tuple[OneDevice, ...]:
    return tuple(
        OneDevice(row["aten"], row["falls_back_on"], row.get("when", ""), tuple(row["names"]))
        for row in _content()["device"]
    )


@cache
def made_of() -> tuple[MadeOf, ...]:
    return tuple(
        MadeOf(row["name"], tuple(row["forward"]), tuple(row["backward"]) if "backward" in row else None)
        for row in _content()["made_of"]
    )


def is_client_only(aten: str) -> bool:
    """Return whether the fallback of an operator (`aten::x`, any overload) is the CPU client's and no
    TPU's."""
    base = aten.partition(".")[0]
    return any(row.aten == base and row.falls_back_on == "cpu-client" for row in one_device())


def about_devices(name: str) -> tuple[OneDevice, ...]:
    """Return the device-dependent behaviour of a public name or an aten operator."""
    base = name.partition(".")[0] if name.startswith("aten::") else name
    return tuple(row for row in one_device() if base == row.aten or name in row.names)
