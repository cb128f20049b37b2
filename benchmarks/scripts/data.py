"""Synthetic data in the formats that public scripts read: run with `KIND PATH ...`, it writes each, seeded.

Runs in the Python of the scripts: needs numpy, for images Pillow, for a few kinds torch, scipy or h5py.
"""

from __future__ import annotations

import gzip
import json
import pickle
import struct
import sys
from pathlib import Path

import numpy as np

from benchmarks.scripts import data_shapes, data_signals  # noqa: F401  (they register generators)
from benchmarks.scripts.data_common import GENERATORS, generator, images, pixels, words, write


@generator
def mnist(root: Path) -> None:
    """Write the four idx files below `MNIST/raw`: 1,024 training and 256 test images of 28 x 28."""
    raw = root / "MNIST" / "raw"
    raw.mkdir(parents=True, exist_ok=True)
    for part, count in (("train", 1024), ("t10k", 256)):
        images = struct.pack(">IIII", 0x803, count, 28, 28) + pixels(count, 28, 28).tobytes()
        labels = struct.pack(">II", 0x801, count) + bytes(index % 10 for index in range(count))
        (raw / f"{part}-images-idx3-ubyte").write_bytes(images)
        (raw / f"{part}-labels-idx1-ubyte").write_bytes(labels)


def _cifar(folder: Path, parts: dict[str, int], label: str, classes: int, meta: tuple[str, str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, count in parts.items():
        batch = {"data": pixels(count, 3072), label: [index % classes for index in range(count)]}
        (folder / name).write_bytes(pickle.dumps(batch))
    names = {meta[1]: [f"class{index}" for index in range(classes)]}
    (folder / meta[0]).write_bytes(pickle.dumps(names))


@generator
def cifar10(root: Path) -> None:
    """Write the batches below `cifar-10-batches-py`: 5 x 64 training and 64 test images."""
    parts = {f"data_batch_{index}": 64 for index in range(1, 6)} | {"test_batch": 64}
    _cifar(root / "cifar-10-batches-py", parts, "labels", 10, ("batches.meta", "label_names"))


@generator
def cifar100(root: Path) -> None:
    """Write the files below `cifar-100-python`: 320 training and 64 test images."""
    parts = {"train": 320, "test": 64}
    _cifar(root / "cifar-100-python", parts, "fine_labels", 100, ("meta", "fine_label_names"))


@generator
def segmentation(root: Path) -> None:
    """Write `imgs` and `masks` of two classes: 24 pairs of 48 x 48."""
    from PIL import Image

    images(root / "imgs", 24)
    (root / "masks").mkdir(parents=True, exist_ok=True)
    for index in range(24):
        mask = np.zeros((48, 48), np.uint8)
        mask[index:, : 48 - index] = 255
        Image.fromarray(mask).save(root / "masks" / f"{index}.png")


@generator
def image_pairs(root: Path) -> None:
    """Write `train` and `test` images that hold an input and a target side by side, 256 x 128."""
    from PIL import Image

    for part in ("train", "val", "test"):
        (root / part).mkdir(parents=True, exist_ok=True)
        for index, one in enumerate(pixels(8, 128, 256, 3)):
            Image.fromarray(one).save(root / part / f"{index}.jpg")


@generator
def bsds300(root: Path) -> None:
    """Write `BSDS300/images/train` and `test`: 16 images of 128 x 128."""
    for part in ("train", "test"):
        images(root / "BSDS300" / "images" / part, 16, 128)


@generator
def blender_scene(root: Path) -> None:
    """Write a scene of the NeRF synthetic format: 8 views of 32 x 32 for each part."""
    for part in ("train", "val", "test"):
        images(root / part, 8, 32, "RGBA")
        frames = [{"file_path": f"./{part}/{index}", "transform_matrix": _pose(index)} for index in range(8)]
        write(root / f"transforms_{part}.json", json.dumps({"camera_angle_x": 0.69, "frames": frames}))


def _pose(index: int) -> list[list[float]]:
    turn = index * np.pi / 4
    cos, sin = float(np.cos(turn)), float(np.sin(turn))
    return [[cos, 0.0, sin, 4 * sin], [0.0, 1.0, 0.0, 0.0], [-sin, 0.0, cos, 4 * cos], [0.0, 0.0, 0.0, 1.0]]


@generator
def text_file(path: Path) -> None:
    """Write one text file: a line of capitals and signs, then 20,000 words in lines of 12."""
    text = words(20_000)
    write(
        path,
        "ABCDEFGHIJKLMNOPQRSTUVWXYZ ,.!?;:'-\n"
        + "\n".join(" ".join(text[at : at + 12]) for at in range(0, len(text), 12))
        + "\n",
    )


@generator
def word_list(path: Path) -> None:
    """Write 1,200 made-up names, one a line."""
    rng = np.random.default_rng(0)
    letters = np.array(list("abcdefghilmnorst"))
    names = ("".join(rng.choice(letters, rng.integers(3, 9))) for _ in range(1200))
    write(path, "\n".join(names) + "\n")


@generator
def sentence_pairs(path: Path) -> None:
    """Write 400 lines of two sentences with a tab between."""
    text = words(400 * 12)
    rows = (text[at : at + 12] for at in range(0, len(text), 12))
    write(path, "".join(f"{' '.join(row[:6])}\t{' '.join(row[6:])}\n" for row in rows))


@generator
def language_model(root: Path) -> None:
    """Write `train.txt`, `valid.txt` and `test.txt` of words."""
    for seed, (part, count) in enumerate((("train", 12_000), ("valid", 3_000), ("test", 3_000))):
        text = words(count, seed)
        lines = (" ".join(text[at : at + 15]) for at in range(0, count, 15))
        write(root / f"{part}.txt", "".join(f" {line} \n" for line in lines))


@generator
def token_shards(root: Path) -> None:
    """Write two files of 20,000 tokens below 64 as 16-bit numbers."""
    root.mkdir(parents=True, exist_ok=True)
    for seed in range(2):
        tokens = np.random.default_rng(seed).geometric(0.1, 20_000) % 64
        tokens.astype(np.uint16).tofile(root / f"data{seed:02}.bin")


@generator
def cora(root: Path) -> None:
    """Write a citation graph in Cora's format: 1,600 papers of 7 classes, 64 words."""
    papers, words_ = 1600, 64
    rng = np.random.default_rng(0)
    chosen = rng.random((papers, words_)) < 0.02
    rows = (
        f"{index}\t" + "\t".join("1" if one else "0" for one in row) + f"\tclass{index % 7}\n"
        for index, row in enumerate(chosen)
    )
    write(root / "cora.content", "".join(rows))
    ends = rng.integers(0, papers, (2 * papers, 2))
    write(root / "cora.cites", "".join(f"{one}\t{other}\n" for one, other in ends))


@generator
def diabetes(path: Path) -> None:
    """Write 759 rows of 8 numbers and a label, comma separated and compressed."""
    rng = np.random.default_rng(0)
    rows = np.hstack([rng.uniform(-1, 1, (759, 8)), rng.integers(0, 2, (759, 1))])
    text = "\n".join(",".join(f"{value:.6f}" for value in row) for row in rows) + "\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())


@generator
def sine_waves(path: Path) -> None:
    """Write `traindata.pt`: 16 phase-shifted sine waves of 100 samples."""
    import torch

    path.parent.mkdir(parents=True, exist_ok=True)
    shifts = np.random.default_rng(0).integers(-80, 80, (16, 1))
    with path.open("wb") as out:
        torch.save(np.sin((np.arange(100) + shifts) / 20.0).astype(np.float64), out)


if __name__ == "__main__":
    for kind, path in zip(sys.argv[1::2], sys.argv[2::2], strict=True):
        GENERATORS[kind](Path(path))
