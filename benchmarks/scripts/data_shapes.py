"""Synthetic point clouds and shapes, in the formats of ShapeNet, ModelNet40 and samples of distances."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from benchmarks.scripts.data_common import generator, write

PARTS = ("train", "val", "test")


def clouds(count: int, points: int, seed: int = 0) -> np.ndarray:
    """Return `count` ellipsoids of `points` points, as float32."""
    rng = np.random.default_rng(seed)
    points_ = rng.normal(size=(count, points, 3))
    points_ /= np.linalg.norm(points_, axis=2, keepdims=True)
    return (points_ * rng.uniform(0.3, 1.0, (count, 1, 3))).astype(np.float32)


def _save(path: Path, values: np.ndarray, separator: str = " ") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savetxt(path, values, fmt="%.6f" if values.dtype.kind == "f" else "%d", delimiter=separator)


@generator
def shapenet_parts(root: Path) -> None:
    """Write 64 shapes of two categories of ShapeNet, each point with one of 4 parts."""
    kinds = {"Airplane": "02691156", "Chair": "03001627"}
    write(root / "synsetoffset2category.txt", "".join(f"{name}\t{code}\n" for name, code in kinds.items()))
    listed = []
    for index, cloud in enumerate(clouds(64, 256)):
        code = list(kinds.values())[index % 2]
        _save(root / code / "points" / f"s{index}.pts", cloud)
        _save(root / code / "points_label" / f"s{index}.seg", 1 + np.arange(256) % 4)
        listed.append(f"shape_data/{code}/s{index}")
    for part, files in (("train", listed[:48]), ("val", listed[48:56]), ("test", listed[56:])):
        write(root / "train_test_split" / f"shuffled_{part}_file_list.json", json.dumps(files))


@generator
def modelnet40_text(root: Path) -> None:
    """Write 48 training and 8 test shapes of 40 categories, 1,024 points with normals, as text."""
    names = [f"kind{chr(97 + index // 26)}{chr(97 + index % 26)}" for index in range(40)]
    write(root / "modelnet40_shape_names.txt", "\n".join(names) + "\n")
    for part, count, seed in (("train", 48, 0), ("test", 8, 1)):
        listed = [f"{names[index % 40]}_{index:04}" for index in range(count)]
        write(root / f"modelnet40_{part}.txt", "\n".join(listed) + "\n")
        for name, cloud in zip(listed, clouds(count, 1024, seed), strict=True):
            _save(root / name[:-5] / f"{name}.txt", np.hstack([cloud, cloud]), ",")


@generator
def modelnet40_h5(root: Path) -> None:
    """Write 64 training and 16 test shapes of 40 categories, 2,048 points each, as HDF5."""
    import h5py

    root.mkdir(parents=True, exist_ok=True)
    for part, count in (("train", 64), ("test", 16)):
        with h5py.File(root / f"ply_data_{part}0.h5", "w") as out:
            out["data"] = clouds(count, 2048)
            out["label"] = (np.arange(count) % 40)[:, None].astype(np.uint8)


@generator
def shapenet_h5(path: Path) -> None:
    """Write 16 airplanes of 2,048 points for each part of the data, as HDF5."""
    import h5py

    path.parent.mkdir(parents=True, exist_ok=True)
    with h5py.File(path, "w") as out:
        for seed, part in enumerate(PARTS):
            out[f"02691156/{part}"] = clouds(16, 2048, seed)


@generator
def distance_samples(root: Path) -> None:
    """Write 8 spheres as 2,000 points with signed distances, inside and outside, and `split.json`."""
    for index in range(8):
        rng = np.random.default_rng(index)
        points = rng.uniform(-1, 1, (4000, 3))
        distances = np.linalg.norm(points, axis=1) - 0.4 - 0.05 * index
        rows = np.hstack([points, distances[:, None]]).astype(np.float32)
        folder = root / "SdfSamples" / "shapes" / "sphere"
        folder.mkdir(parents=True, exist_ok=True)
        np.savez(folder / f"{index}.npz", pos=rows[distances > 0][:1000], neg=rows[distances <= 0][:1000])
    write(root / "split.json", json.dumps({"shapes": {"sphere": [str(index) for index in range(8)]}}))
