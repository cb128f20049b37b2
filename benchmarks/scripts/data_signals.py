"""Synthetic pictures in folders, labelled sentences, time series, films with sound and flow."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.scripts.data_common import generator, images, pixels, words, write


@generator
def image_folders(root: Path) -> None:
    """Write 8 images of 96 x 96 for each of 4 classes, each in its folder."""
    for index in range(4):
        images(root / f"class{index}", 8, 96)


@generator
def voc_segmentation(root: Path) -> None:
    """Write 48 images of 96 x 96 with masks of 21 classes in the layout of VOC2012."""
    from PIL import Image

    (root / "JPEGImages").mkdir(parents=True, exist_ok=True)
    (root / "SegmentationClass").mkdir(parents=True, exist_ok=True)
    for index, one in enumerate(pixels(48, 96, 96, 3)):
        Image.fromarray(one).save(root / "JPEGImages" / f"i{index}.jpg")
        Image.fromarray(_mask(index)).save(root / "SegmentationClass" / f"i{index}.png")
    _lists(root / "ImageSets" / "Segmentation")


def _mask(index: int) -> np.ndarray:
    mask = np.zeros((96, 96), np.uint8)
    mask[index:, : 96 - index] = index % 21
    return mask


def _lists(folder: Path) -> None:
    for part, start, end in (("train", 0, 32), ("val", 32, 48)):
        write(folder / f"{part}.txt", "".join(f"i{index}\n" for index in range(start, end)))


@generator
def labelled_text(path: Path) -> None:
    """Write 320 labelled sentences, with columns `label` and `text_a`."""
    text = words(320 * 8)
    rows = (f"{index % 2}\t{' '.join(text[8 * index : 8 * index + 8])}\n" for index in range(320))
    write(path, "label\ttext_a\n" + "".join(rows))


@generator
def hourly_series(path: Path) -> None:
    """Write 20 months of hours in seven columns, in the format of the ETT datasets."""
    hours = np.arange(20 * 30 * 24)
    noise = np.random.default_rng(0).normal(0, 0.1, (len(hours), 7))
    values = np.sin(hours[:, None] / (6.0 + np.arange(7))) + noise
    dates = np.datetime64("2016-07-01T00") + hours
    rows = (
        f"{str(date).replace('T', ' ')}:00:00,{','.join(f'{value:.5f}' for value in row)}\n"
        for date, row in zip(dates, values, strict=True)
    )
    write(path, "date,HUFL,HULL,MUFL,MULL,LUFL,LULL,OT\n" + "".join(rows))


def _tone(seed: int, seconds: float, rate: int) -> np.ndarray:
    at = np.arange(int(seconds * rate)) / rate
    noise = np.random.default_rng(seed).normal(0, 0.02, len(at))
    wave = 0.4 * np.sin(2 * np.pi * (180 + 20 * seed) * at) + noise
    return (wave * 32767).astype(np.int16)


@generator
def talking_faces(root: Path) -> None:
    """Write 8 clips of 40 frames of 96 x 96 with their sound, 16 kHz."""
    from PIL import Image
    from scipy.io import wavfile

    for clip in range(8):
        folder = root / "speaker" / f"clip{clip}"
        folder.mkdir(parents=True, exist_ok=True)
        for index, one in enumerate(pixels(40, 96, 96, 3)):
            Image.fromarray(one).save(folder / f"{index}.jpg")
        wavfile.write(folder / "audio.wav", 16_000, _tone(clip, 2.0, 16_000))


@generator
def flying_chairs(root: Path) -> None:
    """Write 16 pairs of images of 128 x 160 and the flow between them."""
    from PIL import Image

    root.mkdir(parents=True, exist_ok=True)
    pictures = pixels(16, 128, 160, 3)
    for index, one in enumerate(pictures, 1):
        Image.fromarray(one).save(root / f"{index:05}_img1.ppm")
        Image.fromarray(np.roll(one, 2, 1)).save(root / f"{index:05}_img2.ppm")
        flow = np.zeros((128, 160, 2), np.float32)
        flow[..., 0] = 2.0
        header = np.array([202021.25], np.float32).tobytes() + np.array([160, 128], np.int32).tobytes()
        (root / f"{index:05}_flow.flo").write_bytes(header + flow.tobytes())
