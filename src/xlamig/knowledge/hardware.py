"""Accelerators and their list prices: a dated table with sources, and the user's own on top."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_PATH = Path(__file__).parent / "data" / "hardware.toml"
_NUMBERS = ("bf16_tflops", "hbm_gb", "hbm_gbps")


class HardwareError(ValueError):
    """A table that cannot be read, with the file and the entry."""


@dataclass(frozen=True, slots=True)
class Price:
    """The price of one chip for one hour."""

    offer: str
    per_hour: float
    source: str
    spot: bool = False


@dataclass(frozen=True, slots=True)
class Compiler:
    """libtpu's name of a chip, the dimensions of its topology, its devices, and the usable GiB of each."""

    name: str
    dimensions: int
    devices: int
    gib: float

    def slice_of(self, chips: int) -> int:
        """The chips of the smallest slice with at least so many; as many as asked for above the largest."""
        return next((size for size in _SLICES[self.dimensions] if size >= chips), chips)

    def topology(self, chips: int) -> str | None:
        """The smallest slice with that many chips, None where there is none."""
        shape = _SLICES[self.dimensions].get(chips)
        return shape and f"{self.name}:{shape}"


_SLICES: Mapping[int, Mapping[int, str]] = {
    2: {1: "1x1", 2: "1x2", 4: "2x2", 8: "2x4", 16: "4x4", 32: "4x8", 64: "8x8", 128: "8x16", 256: "16x16"},
    3: {
        1: "1x1x1", 2: "1x1x2", 4: "2x2x1", 8: "2x2x2", 16: "2x2x4", 32: "2x4x4", 64: "4x4x4",
        128: "4x4x8", 256: "4x8x8",
    },
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Accelerator:
    """Peak rates are dense, per chip: bf16 in TFLOP/s, memory in GB, its bandwidth in GB/s. `mxu`
    is the width of a matrix unit, 0 for a GPU."""

    key: str
    name: str
    bf16_tflops: float
    hbm_gb: float
    hbm_gbps: float
    mxu: int
    dtypes: tuple[str, ...]
    sources: tuple[str, ...]
    prices: tuple[Price, ...]
    compiler: Compiler | None = None  # None for what libtpu does not compile for


@dataclass(frozen=True, slots=True)
class Hardware:
    read: str  # when the built-in table's figures were read
    currency: str
    gpus: Mapping[str, Accelerator]
    tpus: Mapping[str, Accelerator]


def load(own: Path | None = None) -> Hardware:
    """The table with the entries of `own` in place of those of the same name.

    Raises:
        HardwareError: the user's table cannot be read.
    """
    found = _table(_PATH)
    if own is not None:
        given = _table(own)
        if given.currency != found.currency:
            raise HardwareError(f"{own}: currency: expected {found.currency!r}, got {given.currency!r}")
        found = Hardware(
            found.read, found.currency, {**found.gpus, **given.gpus}, {**found.tpus, **given.tpus}
        )
    return found


def _table(path: Path) -> Hardware:
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise HardwareError(f"{path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise HardwareError(f"{path}: {error}") from None
    read, currency = document.get("read", ""), document.get("currency", "USD")
    unknown = sorted(document.keys() - {"read", "currency", "gpu", "tpu"})
    if unknown:
        raise HardwareError(f"{path}: {unknown[0]}: unknown key; expected read, currency, gpu or tpu")
    gpus, tpus = (dict(_accelerators(document, kind, path)) for kind in ("gpu", "tpu"))
    return Hardware(str(read), str(currency), gpus, tpus)


def _accelerators(document: Mapping[str, Any], kind: str, path: Path) -> Iterator[tuple[str, Accelerator]]:
    entries = document.get(kind, {})
    if not isinstance(entries, dict):
        raise HardwareError(f"{path}: {kind}: expected a table")
    for key, entry in entries.items():
        where = f"{path}: {kind}.{key}"
        if not isinstance(entry, dict):
            raise HardwareError(f"{where}: expected a table")
        tflops, memory, bandwidth = (_number(entry, name, where) for name in _NUMBERS)
        mxu = int(_number(entry, "mxu", where)) if kind == "tpu" else 0
        yield (
            key.lower(),
            Accelerator(
                key.lower(), str(entry.get("name", key)), tflops, memory, bandwidth, mxu,
                tuple(map(str, entry.get("dtypes", ()))), _sources(entry, where),
                tuple(_prices(entry, where)), _compiler(entry, where),
            ),
        )  # fmt: skip


def _compiler(entry: Mapping[str, Any], where: str) -> Compiler | None:
    given = entry.get("compiler")
    if given is None:
        return None
    place = f"{where}: compiler"
    if not isinstance(given, dict) or not given.get("name") or given.get("dimensions") not in _SLICES:
        raise HardwareError(f"{place}: expected name, dimensions (2 or 3), devices and gib")
    devices, gib = int(_number(given, "devices", place)), _number(given, "gib", place)
    return Compiler(str(given["name"]), given["dimensions"], devices, gib)


def _prices(entry: Mapping[str, Any], where: str) -> Iterator[Price]:
    for number, price in enumerate(entry.get("prices", ()), 1):
        place = f"{where}: price {number}"
        if not isinstance(price, dict) or not price.get("source") or not price.get("offer"):
            raise HardwareError(f"{place}: expected offer, per_hour and source")
        per_hour = _number(price, "per_hour", place)
        yield Price(str(price["offer"]), per_hour, str(price["source"]), price.get("spot") is True)


def _sources(entry: Mapping[str, Any], where: str) -> tuple[str, ...]:
    sources = entry.get("sources", ())
    if not sources or not isinstance(sources, list):
        raise HardwareError(f"{where}: sources: expected where the figures are from")
    return tuple(map(str, sources))


def _number(entry: Mapping[str, Any], name: str, where: str) -> float:
    value = entry.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
        raise HardwareError(f"{where}: {name}: expected a number above 0")
    return float(value)
