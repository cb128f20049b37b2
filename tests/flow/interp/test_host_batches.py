"""Batches as long as their longest sample that libraries make, and numbers that objects count."""

from __future__ import annotations

import pytest
from tests.flow.interp.said import said

SERVER = """
from transformers import AutoTokenizer
class Sample:
    def __init__(self, ids):
        self.ids = ids
    def __len__(self):
        return len(self.ids)
device = torch_xla.device()
tokenizer = AutoTokenizer.from_pretrained("gpt2")
def answer(text, options, image, processor):
    tokens = CALL
    return {key: value.to(device) for key, value in tokens.items()}
"""


@pytest.mark.parametrize(
    ("call", "varies"),
    [
        ("tokenizer(text, return_tensors='pt')", True),
        ("tokenizer(text, padding=True, return_tensors='pt')", True),
        ("processor(text=text, padding='longest', return_tensors='pt')", True),
        ("tokenizer(text, padding='max_length', max_length=64, return_tensors='pt')", False),
        ("tokenizer(text, padding=True, pad_to_multiple_of=64, return_tensors='pt')", False),
        ("tokenizer.batch_encode_plus(text, pad_to_max_length=True, return_tensors='pt')", False),
        ("tokenizer(text, padding=options.padding, return_tensors='pt')", False),
        ("processor(images=image, return_tensors='pt')", False),
        ("tokenizer(text)", False),
        ("tokenizer(text, **dict(padding=True, return_tensors='pt'))", True),
        ("tokenizer(text, **options)", False),
        ("tokenizer.pad(text, return_tensors='pt')", True),
        ("{'ids': torch.tensor([tokenizer.encode(text)])}", True),
        ("{'ids': torch.tensor([tokenizer.encode(text, padding='max_length')])}", False),
        ("{'ids': torch.full((1, len(tokenizer.encode(text))), 0)}", True),
        ("{'ids': torch.zeros(1, max([len(Sample(torch.tensor(tokenizer.encode(text))))]))}", True),
        ("{'ids': torch.zeros(1, len(options))}", False),
        ("{'ids': torch.zeros(1, len(Sample(options)))}", False),
    ],
)
def test_a_text_of_any_length_is_moved(call: str, varies: bool) -> None:
    assert bool(said(SERVER.replace("CALL", call), "changing-shape")) == varies


OWN_CALL = """
    def __call__(self, text, padding, return_tensors):
        return torch.zeros(1, 64)
"""


@pytest.mark.parametrize(("call", "varies"), [("", True), (OWN_CALL, False)])
def test_a_class_of_the_project_may_be_a_tokenizer_of_a_library(call: str, varies: bool) -> None:
    own = f"from .tokens import Base\nclass Tokenizer(Base):\n    name = 'own'\n{call}\n"
    server = own + SERVER.replace('AutoTokenizer.from_pretrained("gpt2")', "Tokenizer()")
    server = server.replace("CALL", "{'ids': tokenizer(text, padding=True, return_tensors='pt')}")
    assert bool(said(server, "changing-shape")) == varies


COLLATE = """
import numpy as np
from torch.utils.data import DataLoader
def collate(batch):
    width = 0
    for sample in batch:
        width = max(width, LENGTH)
    MADE
model = nn.Linear(8, 8).to("cuda")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for batch in DataLoader(data, 4, drop_last=True, collate_fn=collate):
    loss = model(batch.to("cuda")).sum()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("length", "made", "varies"),
    [
        ("len(sample)", "return torch.zeros(len(batch), width)", True),
        ("len(sample)", "return torch.from_numpy(np.zeros((len(batch), width)))", True),
        ("len(sample)", "return torch.from_numpy(np.zeros((len(batch), 64)))", False),
        (
            "len(sample)",
            "return torch.as_tensor(np.stack([np.pad(s, (0, width - len(s))) for s in batch]))",
            True,
        ),
        ("len(sample)", "return torch.tensor(np.array([s + [0] * (width - len(s)) for s in batch]))", True),
        ("3", "return torch.zeros(4, np.array([len(s) for s in batch]).max())", True),
        ("3", "return torch.zeros(4, np.max([len(s) for s in batch]))", True),
        ("3", "return torch.zeros(4, max(np.array([np.asarray(s).shape[0] for s in batch])))", True),
        (
            "3",
            "most = max(len(s) for s in batch); a = [np.asarray(s) for s in batch]\n"
            "    return torch.from_numpy(np.stack([np.pad(s, (0, most - s.shape[0])) for s in a]))",
            True,
        ),
        (
            "3",
            "a = [np.asarray(s) for s in batch]\n"
            "    return torch.from_numpy(np.stack([np.pad(s, (0, 64 - s.shape[0])) for s in a]))",
            False,
        ),
        ("3", "return torch.zeros(4, np.array([s.weight for s in batch]).max())", False),
        ("3", "return torch.zeros(len(batch), width)", False),
    ],
)
def test_a_running_maximum_of_lengths(length: str, made: str, varies: bool) -> None:
    text = COLLATE.replace("LENGTH", length).replace("MADE", made)
    assert bool(said(text, "changing-shape")) == varies


CLAMPED = """
import numpy as np
def pad(x, kernel):
    size = np.asarray(kernel, dtype=np.float32).shape[0] - 2
    return torch.nn.functional.pad(x, (0, GREATER))
for batch in loader:
    loss = model(pad(batch.to("cuda"), kernel)).sum()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize("greater", ["max(size, 0)", "max(0, -size)", "max(0, size)"])
def test_a_number_that_is_clamped_is_no_longest_length(greater: str) -> None:
    text = (
        "model = nn.Linear(8, 8).to('cuda')\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        + CLAMPED
    )
    assert [line for line in said(text.replace("GREATER", greater)) if "changing" in line] == []


BUFFER = """
class Replay:
    def __init__(self):
        self.rows, self.slot, self.epoch = torch.zeros(99, 8).to("cuda"), 0, 0
    def end_epoch(self):
        self.epoch += 1
    def store(self, row):
        self.rows[AT] = row
        COUNT
model = nn.Linear(8, 8).to("cuda")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
replay = Replay()
for batch in loader:
    loss = model(batch.to("cuda")).sum()
    loss.backward()
    optimizer.step()
    replay.store(loss)
"""


@pytest.mark.parametrize(
    ("at", "count", "changes"),
    [
        ("self.slot", "self.slot += 1", True),
        ("self.slot", "self.slot = (self.slot + 1) % 99", True),
        ("self.slot", "self.slot = 3", False),
        ("self.slot", "pass", False),
        ("self.epoch", "pass", False),
        ("torch.randint(0, 99, ())", "pass", True),
        ("torch.tensor(5)", "pass", False),
    ],
)
def test_a_position_that_an_object_counts(at: str, count: str, changes: bool) -> None:
    text = BUFFER.replace("AT", at).replace("COUNT", count)
    assert bool(said(text, "changing-constant")) == changes


FILES = """
import glob, librosa, torchaudio
from PIL import Image
from torchvision.transforms import functional as TF
model = nn.Linear(8, 8).to("cuda").eval()
for path in glob.glob("*"):
    MADE
    print(model(x.to("cuda")).cpu())
"""


@pytest.mark.parametrize(
    ("made", "varies"),
    [
        ("x, rate = torchaudio.load(path)", True),
        ("x = torch.from_numpy(librosa.load(path)[0])", True),
        ("x = TF.to_tensor(Image.open(path).convert('RGB'))", True),
        ("x = torchaudio.load(path)[0][:, :16000]", False),
        ("x = torchaudio.load(path)[0]; x = F.pad(x, (0, 16000 - x.size(1)))", False),
        ("x = TF.to_tensor(Image.open(path).resize((64, 64)))", False),
        ("x = torch.from_numpy(librosa.util.fix_length(librosa.load(path)[0], size=16000))", False),
    ],
)
def test_files_have_sizes_of_their_own(made: str, varies: bool) -> None:
    assert bool(said(FILES.replace("MADE", made), "changing-shape")) == varies


@pytest.mark.parametrize(("width", "varies"), [("random.randint(8, 64)", True), ("32", False)])
def test_a_window_of_drawn_width(width: str, varies: bool) -> None:
    text = """
    def train(data, model, optimizer, device):
        for step in range(100):
            n = WIDTH
            start = random.randint(0, len(data) - n)
            loss = model(data[start : start + n].to(device)).sum()
            loss.backward()
            optimizer.step()
    train(torch.ones(999, 8), nn.Linear(8, 8).to("cuda"), None, "cuda")
    """
    assert bool(said(text.replace("WIDTH", width), "changing-shape")) == varies


NESTED = """
from torch.utils.data import DataLoader

class Nested:
    def __init__(self, tensors, mask):
        self.tensors = tensors
        self.mask = mask

    def to(self, device):
        MOVED

def nested(images):
    most = list(images[0].shape)
    for image in images[1:]:
        for at, size in enumerate(image.shape):
            most[at] = max(most[at], size)
    padded = torch.zeros(SIZE)
    return Nested(padded, torch.ones(4, 8))

def collate(batch):
    BATCH

model = nn.Linear(8, 8).to("cuda")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for images, labels in DataLoader(data, 4, drop_last=True, collate_fn=collate):
    loss = model(images.to("cuda")).sum()
    loss.backward()
    optimizer.step()
"""
NEW = "return Nested(self.tensors.to(device), self.mask.to(device))"
SAME = "self.tensors = self.tensors.to(device)\n        return self"
PAIR = "images, labels = list(zip(*batch))\n    return nested(images), labels"
WRITTEN = "batch = list(zip(*batch))\n    batch[0] = nested(batch[0])\n    return tuple(batch)"
LONGEST = "[len(images)] + most"


@pytest.mark.parametrize(
    ("moved", "batch", "size", "varies"),
    [
        (NEW, PAIR, "[len(images), 3, 800, 800]", False),
        (NEW, WRITTEN, "[len(images), 3, 800, 800]", False),
        (NEW, PAIR, LONGEST, True),
        (NEW, WRITTEN, LONGEST, True),
        (SAME, WRITTEN, LONGEST, True),
    ],
)
def test_an_object_holds_images_padded_to_the_greatest(
    moved: str, batch: str, size: str, varies: bool
) -> None:
    program = NESTED.replace("MOVED", moved).replace("BATCH", batch).replace("SIZE", size)
    assert bool(said(program, "changing-shape")) == varies


def test_an_attribute_that_is_rewritten_is_what_any_object_holds() -> None:
    program = """
    class Pair:
        def __init__(self, x):
            self.x = x

        def read(self):
            return float(self.x.sum())

    def make(batch):
        pair = Pair(torch.ones(2))
        pair.x = batch.to(torch_xla.device())
        return pair.read()

    for batch in torch.utils.data.DataLoader(data):
        make(batch)
    """
    assert said(program, "host-read") == ["host-read item: float(self.x.sum())"]


@pytest.mark.parametrize(
    ("given", "copied"),
    [
        ("x", ["x", "y"]),
        ("tokenizer(x, return_tensors='pt', padding=True)", ["y"]),
        ("tokenizer(x, return_tensors='pt', padding=True).input_ids", ["y"]),
    ],
)
def test_only_what_a_loader_gives_is_the_batch(given: str, copied: list[str]) -> None:
    text = f"""
    model = nn.Linear(8, 8).to("cuda")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    def train(loader, tokenizer):
        for x, y in loader:
            loss = model({given}.to("cuda"), y.to("cuda")).sum()
            loss.backward()
            optimizer.step()
    train(given, other)
    """
    assert [line.removeprefix("transfer batch: ")[0] for line in said(text, "transfer")] == copied
