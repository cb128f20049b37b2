"""The registry of generators of synthetic data, and the words, pixels and files that they share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

TEXT = "the of a to and in is for that on with as by it from at an be this which are not"
WORDS = TEXT.split()
GENERATORS: dict[str, Callable[[Path], None]] = {}


def generator(make: Callable[[Path], None]) -> Callable[[Path], None]:
    """Register a generator under its name, which the manifest uses."""
    GENERATORS[make.__name__] = make
    return make


def words(count: int, seed: int = 0) -> list[str]:
    """Return a text of skewed word frequencies."""
    picked = np.random.default_rng(seed).geometric(0.12, count) % len(WORDS)
    return [WORDS[index] for index in picked]


def pixels(*shape: int) -> np.ndarray:
    """Return smooth random images, as uint8."""
    rng = np.random.default_rng(0)
    levels = rng.integers(0, 200, shape[:1] + (1,) * (len(shape) - 1))
    return (levels + rng.integers(0, 56, shape)).astype(np.uint8)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def images(folder: Path, count: int, size: int = 48, mode: str = "RGB") -> None:
    """Write images of one size, named `0.png`, `1.png`, ..."""
    from PIL import Image

    folder.mkdir(parents=True, exist_ok=True)
    for index, one in enumerate(pixels(count, size, size, 3)):
        Image.fromarray(one).convert(mode).save(folder / f"{index}.png")
