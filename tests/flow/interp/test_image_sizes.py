"""Images of sizes of their own, which a loop reads one by one and runs a model on."""

from __future__ import annotations

import pytest

from .said import said

PREPARE = """
import cv2
import numpy as np
device = torch_xla.device()
net = nn.Conv2d(3, 8, 3).to(device)

def prepare(image):
    height, width, channels = image.shape
    BODY
    return image

"""
LOOP = """
@torch.no_grad()
def run(paths):
    for path in paths:
        image = prepare(cv2.imread(path))
        x = torch.from_numpy(image).permute(2, 0, 1)[None].float().to(device)
        print(net(x).cpu())

run(["a.png", "b.png"])
"""
ONCE = """
@torch.no_grad()
def run(path):
    image = prepare(cv2.imread(path))
    x = torch.from_numpy(image).permute(2, 0, 1)[None].float().to(device)
    print(F.interpolate(net(x), size=image.shape[:2]).cpu())

run("a.png")
"""
DATASET = """
class Images(torch.utils.data.Dataset):
    def __getitem__(self, i):
        return torch.from_numpy(prepare(cv2.imread(str(i))))

    def __len__(self):
        return 8
"""
SCALED = "image = cv2.resize(image, (int(width * 0.5), int(height * 0.5)))"
CANVAS = "canvas = np.zeros((height + (32 - height % 32), width, channels)); image = canvas"


@pytest.mark.parametrize("body", ["pass", SCALED, CANVAS])
def test_reports_images_as_large_as_their_files(body: str) -> None:
    assert said(PREPARE.replace("BODY", body) + LOOP, "changing-shape")


@pytest.mark.parametrize(
    "body",
    [
        "image = cv2.resize(image, (224, 224))",
        "canvas = np.zeros((640, 640, channels)); image = canvas",
        "canvas = np.zeros((640, 640, image.shape[2])); image = canvas",
        "canvas = np.zeros((640, 640, image.shape[-1])); image = canvas",
    ],
)
def test_reports_no_image_of_one_size(body: str) -> None:
    assert said(PREPARE.replace("BODY", body) + LOOP, "changing-shape") == []


@pytest.mark.parametrize("body", [SCALED, CANVAS])
@pytest.mark.parametrize("rest", [ONCE, DATASET])
def test_reports_no_single_image_and_no_sample(body: str, rest: str) -> None:
    assert said(PREPARE.replace("BODY", body) + rest, "changing") == []
