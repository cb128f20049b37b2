"""Functions with shapes that depend on values run on the host, if they compute on their arguments alone."""

from __future__ import annotations

import textwrap

import pytest
from tests.fix.test_flow_fixes import fixed

RULES = ("XLA201", "XLA202", "XLA203", "XLA305")
TRAIN = """
for x, boxes in loader:
    loss = criterion(model(x.to(device)), boxes.to(device))
    loss.backward()
    optimizer.step()
"""
DETECTION = """
class Criterion(nn.Module):
    def __init__(self, limit=0.5, table=None, net=None):
        super().__init__()
        self.limit = limit
        self.inner = nn.SmoothL1Loss()
        self.table = table
        self.net = net
        self.register_buffer("prior", torch.zeros(4))
        self.classes = torch.zeros(4).to(device)

    def forward(self, scores, boxes):
        {first}
        chosen = scores[boxes > self.limit]
        return self.inner(chosen, chosen.detach() + 1)

criterion = Criterion()
"""


def marked(code: str) -> list[str]:
    """The lines below the decorator that is written."""
    lines = fixed(textwrap.dedent(code), *RULES)
    return [line for line in lines if line.startswith("@run_on_host")]


@pytest.mark.parametrize(
    "first",
    [
        "pass",
        "zeros = torch.zeros(4, device=scores.device)",
        "boxes = boxes.to(scores.device).clone()",
        "boxes = boxes + 1\n        boxes[0] = 1",
        "n = self.training and len(scores)",
    ],
)
def test_runs_a_loss_on_the_host(first: str) -> None:
    assert marked(DETECTION.format(first=first) + TRAIN) == ["@run_on_host"]


@pytest.mark.parametrize(
    "first",
    [
        "scores = scores + self.prior",  # a buffer is on the device
        "scores = scores + self.classes",
        "scores = scores + self.table",
        "scores = self.net(scores)",
        "scores = model(scores)",
        "scores = scores.to(device)",
        "scores = scores.cuda()",
        'zeros = torch.zeros(4, device="cuda")',
        "boxes[0] = 1",  # the caller's tensor
        "boxes.clamp_(0, 1)",
        "self.last = scores",
        "boxes = boxes.kept",
    ],
)
def test_leaves_functions_that_need_the_device(first: str) -> None:
    later = "\nprint(criterion.last)" if "last" in first else ""
    assert not marked(DETECTION.format(first=first) + TRAIN + later)


FLAG = """
class Criterion(nn.Module):
    def __init__(self, size, {flag}):
        super().__init__()
        self.area = 2 * (size[0] * size[1]) / (64**2)
        self.{flag} = {flag}

    def forward(self, scores, boxes):
        weights = torch.ones(4)
        {first}
        return (scores[boxes > 0] * self.area).mean() + weights.sum()

criterion = Criterion((32, 32), True)
"""


@pytest.mark.parametrize(
    ("flag", "first"),
    [
        ("cuda", "if self.cuda:\n            weights = weights.type_as(scores)"),
        ("use_gpu", "weights = 2 * weights if not self.use_gpu and len(scores) else weights"),
    ],
)
def test_a_flag_may_be_tested_on_the_host(flag: str, first: str) -> None:
    assert marked(FLAG.format(flag=flag, first=first) + TRAIN) == ["@run_on_host"]


@pytest.mark.parametrize(
    ("flag", "first"),
    [
        ("cuda", "if self.cuda:\n            weights = weights.cuda()"),
        ("cuda", "weights = self.cuda(weights)"),
        ("device", "weights = weights.to(self.device)"),
        ("gpu", "if self.gpu:\n            weights = weights.to(self.gpu)"),
    ],
)
def test_what_a_flag_places_needs_the_device(flag: str, first: str) -> None:
    assert not marked(FLAG.format(flag=flag, first=first) + TRAIN)


BOXES = """
class Criterion(nn.Module):
    def __init__(self, anchors):
        super().__init__()
        self.anchors = anchors

    def forward(self, scores, boxes):
        sizes = {sizes}
        return (scores[boxes > 0] * len(self.anchors)).mean() + sum(sizes)

criterion = Criterion(anchors)
"""


def test_a_list_that_is_unpacked_holds_numbers() -> None:
    assert marked(BOXES.format(sizes="[w * h for w, h in self.anchors]") + TRAIN) == ["@run_on_host"]


@pytest.mark.parametrize("sizes", ["self.anchors[0]", "[w * h for w, h in self.anchors] + [self.anchors]"])
def test_anchors_may_be_on_the_device(sizes: str) -> None:
    assert not marked(BOXES.format(sizes=sizes) + TRAIN)


POOL = """
import random

class Pool:
    def __init__(self, size):
        self.size = size
        self.images = []

    def query(self, images):
        out = []
        for image in images:
            if len(self.images) < self.size:
                self.images.append(image)
                out.append(image)
            elif random.random() > 0.5:
                at = random.randint(0, self.size - 1)
                out.append(self.images[at].clone())
                self.images[at] = image
            else:
                out.append(image)
        return torch.stack(out)

pool = Pool(50)
for x in loader:
    fake = model(x.to(device))
    loss = model(pool.query(fake.detach())).mean()
    loss.backward()
    optimizer.step()
"""


def test_runs_a_random_pool_on_the_host() -> None:
    assert marked(POOL) == ["@run_on_host"]


def test_leaves_a_pool_whose_tensors_others_use() -> None:
    assert not marked(POOL + "model(pool.images[0])\n")


HELPER = """
def select(scores, boxes):
    return scores[boxes > 0].log()

def criterion(scores, boxes):
    return select(scores, boxes).sum() + select(boxes, scores).sum()
"""


def test_runs_the_function_that_alone_calls_another_one_on_the_host() -> None:
    lines = fixed(HELPER + TRAIN, *RULES)
    assert "@run_on_host" in lines
    source = HELPER.replace("\ndef criterion", "\n@run_on_host\ndef criterion")
    assert not marked(source.replace("@run_on_host", HOST) + TRAIN)


HOST = "from xla_compat import run_on_host\n@run_on_host"


NMS = """
def keep(boxes, scores):
    order = scores.argsort()
    kept = []
    for _ in range(3):
        i = order[0]
        kept.append(boxes[i] * 2)
        order = order[1:][scores[order[1:]] > 0.5]
    return torch.stack(kept)

def criterion(scores, boxes):
    return keep(boxes, scores[scores > 0.5]).sum()
"""


def test_writes_no_other_fix_into_what_runs_on_the_host() -> None:
    lines = fixed(NMS + TRAIN, *RULES, "XLA109")
    assert not any("i[None]" in line for line in lines)
    assert sum(line.startswith("@run_on_host") for line in lines) == 1


def test_writes_other_fixes_beside_what_runs_on_the_host() -> None:
    code = NMS + "\ndef pick(boxes, scores):\n    i = scores.argsort()[0]\n    return boxes[i] * 2\n" + TRAIN
    code = code.replace("model(x.to(device))", "pick(model(x.to(device)), x.to(device))")
    assert any("boxes[i[None]].squeeze(0)" in line for line in fixed(code, *RULES, "XLA109"))
