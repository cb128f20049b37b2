"""Shapes, constants and paths that differ between steps; and numbers that do not matter."""

from __future__ import annotations

import pytest

from .said import in_step, said

SILENT = {
    "three arguments": "z = torch.where(x > 0, x, 0.0); x.masked_fill(x > 0, 1.0)",
    "integers": "z = x[torch.tensor([0, 1], device=device)]; x[[0, 1]]; x[0]; x[:, -1]; x[None, ..., 1:3]",
    "numpy": "import numpy as np\nz = np.ones(3); z[z > 0]; np.unique(z); np.nonzero(z); np.where(z > 0)",
    "host tensors": "z = torch.randn(4); z[z > 0]; z.nonzero(); z.unique()",
    "a list": "z = [1, 2, 3][: i]; {}.get(i)",
    "numbers in arithmetic": "z = x * i + i / 3; torch.full((3,), i * 0.1, device=device)",
    "a fixed number of layers": "for k in range(3): z = x[k % 2]",
    "random, on the host": "z = torch.ones(3)\nfor k in range(5):\n    if random.random() < 0.5: z = -z",
    "a counter of another loop": "for k in range(2): z = x[:, k : k + 1]",
}
SAID = {
    "x.nonzero()": "dynamic-shape nonzero: x.nonzero()",
    "torch.where(x > 0)": "dynamic-shape nonzero: torch.where(x > 0)",
    "torch.argwhere(x)": "dynamic-shape nonzero: torch.argwhere(x)",
    "x[x > 0]": "dynamic-shape mask-read: x[x > 0]",
    "x[~(x > 0) & (x < 3)]": "dynamic-shape mask-read: x[~(x > 0) & (x < 3)]",
    "x.masked_select(x > 0)": "dynamic-shape mask-read: x.masked_select(x > 0)",
    "x[x > 0] = 0": "dynamic-shape mask-write: x[x > 0]",
    "x[x > 0] += 1": "dynamic-shape mask-write: x[x > 0]",
    "x.unique()": "dynamic-shape unique: x.unique()",
    "torch.bincount(x.long())": "dynamic-shape unique: torch.bincount(x.long())",
    "x.repeat_interleave(x.long())": "dynamic-shape repeat: x.repeat_interleave(x.long())",
    "n = int(x.sum()); x[:n]": "dynamic-shape size: x[:n]",
    "n = x.sum().item(); torch.zeros(n, device=device)": "dynamic-shape size: n",
    "n = len(x.nonzero()); torch.arange(n, device=device)": "dynamic-shape nonzero: x.nonzero()",
    "x[i]": "changing-constant index: i",
    "x[i : i + 4]": "changing-constant slice: i",
    "x[:, i] = 0": "changing-constant index: i",
    "x ** i": "changing-constant attribute: x ** i",
    "x.roll(i)": "changing-constant attribute: i",
    "torch.arange(i, device=device)": "changing-constant attribute: i",
    "F.pad(x, (0, i))": "changing-constant attribute: i",
    "x[random.randint(0, 3)]": "changing-constant index: random.randint(0, 3)",
    "y = -x\nfor k in [1] * 5:\n if random.random() < i: x = y": "changing-path branch: random.random() < i",
    "y = -x\nfor k in [1] * 5:\n b = random.random() < i\n if not b: x = y": "changing-path branch: not b",
    "for k in range(random.randint(1, 3)): x = x * 2": "changing-path rounds: range(random.randint(1, 3))",
}


@pytest.mark.parametrize("case", SILENT)
def test_nothing_changes(case: str) -> None:
    found = in_step(SILENT[case], sure=False)
    assert [line for line in found if line.startswith(("dynamic", "changing"))] == []


@pytest.mark.parametrize("code", SAID)
def test_something_changes(code: str) -> None:
    assert SAID[code] in in_step(code)


GROWING = """
@torch.no_grad()
def generate(model, ids, count):
    ids = ids.to("cuda")
    for _ in range(count):
        token = model(ids)[:, -1].argmax(-1, keepdim=True)
        ids = torch.cat([ids, token], 1)
        END
    return ids
"""


@pytest.mark.parametrize(
    ("end", "found"),
    [
        ("if (token == 2).all(): break", ["changing-shape concat: torch.cat([ids, token], 1)"]),
        ("torch_xla.sync()", ["changing-shape concat: torch.cat([ids, token], 1)"]),
        ("pass", ["changing-shape concat: torch.cat([ids, token], 1)"]),  # one graph, which grows
    ],
)
def test_a_tensor_that_grows_where_each_round_runs(end: str, found: list[str]) -> None:
    assert said(GROWING.replace("END", end), "changing-shape") == found


def test_a_cache_that_a_module_keeps_grows() -> None:
    text = """
    class Attention(nn.Module):
        def __init__(self):
            self.keys = None
        def forward(self, k):
            if self.keys is not None:
                k = torch.cat([self.keys, k], dim=1)
            self.keys = k
            return k
    """
    text += """
    model = Attention().cuda()
    for batch in loader:
        loss = model(batch.cuda()).sum()
        loss.backward()
        optimizer.step()
    """
    assert said(text, "changing-shape") == ["changing-shape concat: torch.cat([self.keys, k], dim=1)"]


@pytest.mark.parametrize(
    ("head", "joined", "grows"),
    [
        ("pass", "self.cache", True),
        ("parts = {}; parts['k'] = k + 1; self.cache = {}", "parts", False),  # two parts of one step
    ],
)
def test_a_value_under_a_key_grows_where_an_earlier_step_left_it(head: str, joined: str, grows: bool) -> None:
    text = f"""
    class Attention(nn.Module):
        def __init__(self):
            self.cache = {{"k": torch.zeros(1, 0, 8).cuda()}}
        def forward(self, k):
            {head}
            self.cache['k'] = torch.cat([{joined}['k'], k], dim=1)
            return self.cache['k']
    model = Attention().cuda()
    for batch in loader:
        loss = model(batch.cuda()).sum()
        loss.backward()
        optimizer.step()
    """
    assert bool(said(text, "changing-shape")) == grows


@pytest.mark.parametrize(
    ("made", "found"),
    [
        ("losses = []", ["changing-shape list: torch.stack(losses)"]),
        ("losses = collections.deque(maxlen=9)", []),
    ],
)
def test_a_list_that_grows_is_stacked(made: str, found: list[str]) -> None:
    text = f"""
    import collections
    model = nn.Linear(8, 8).cuda()
    {made}
    for batch in loader:
        loss = model(batch.cuda()).sum()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
        mean = torch.stack(losses).mean()
    """
    assert said(text, "changing-shape") == found


def test_a_list_of_each_round_does_not_grow() -> None:
    body = "parts = []\nfor k in range(3): parts.append(x * k)\nz = torch.stack(parts)"
    assert in_step(body, "changing-shape", sure=False) == []


def test_a_mask_of_the_tensor_itself_has_its_shape() -> None:
    from .said import facts

    text = """
    model = nn.Linear(8, 8).cuda()
    for batch in loader:
        out = model(batch.cuda())
        out[out > 1] = 0
        out[batch.cuda() > 1] = out[batch.cuda() > 1]
        out.sum().backward()
        optimizer.step()
    """
    writes = [f for f in facts(text) if getattr(f, "via", "") == "mask-write"]
    assert [(f.same_shape, f.value) for f in writes] == [(True, "scalar"), (False, "masked")]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("call", "one"), [("layers[e](x[chosen == e])", True), ("model(x[chosen == e])", False)]
)
def test_a_loop_over_numbers_calls_an_expert_for_each(call: str, one: bool) -> None:
    body = "layers = nn.ModuleList([nn.Linear(8, 8)] * 4).to(device)\nchosen = x.argmax(-1)\n"
    found = " ".join(in_step(f"{body}for e in range(4):\n    y = {call}", sure=False))
    assert ("dynamic-shape experts" in found) == one


def test_experts_are_one_loop() -> None:
    body = "experts = nn.ModuleList([nn.Linear(8, 8)] * 4).to(device)\nchosen = x.argmax(-1)\n"
    body += "for e, expert in enumerate(experts):\n    rows = torch.where(chosen == e)[0]\n"
    body += "    loss = loss + expert(x[rows]).sum()"
    found = [line.partition(":")[0] for line in in_step(body, "dynamic-shape")]
    assert found.count("dynamic-shape experts") == 1


@pytest.mark.parametrize(
    "line",
    [
        "k = np.clip(3, 0, 9); z = x[:, :k]",
        "k = np.sqrt(16); z = x[:, :int(k)]",
        "k = int(np.sqrt(1 - random.random()) * 0 + 1); z = x * k",
        "k = math.ceil(len(extra) / 8) * 8; z = x[:, :k]",
        "k = np.clip(np.zeros(3), 0, 9); z = x * 2",
    ],
)
def test_functions_of_constants_are_constants(line: str) -> None:
    assert in_step("import numpy as np\n" + line, "changing-constant") == []


@pytest.mark.parametrize(
    "number",
    [
        "int(np.clip(random.randint(0, 9) - 2, 0, 8))",
        "int(8 * np.sqrt(1.0 - np.random.beta(1.0, 1.0)))",
        "math.floor(random.random() * 8)",
        "np.minimum(np.random.randint(9), 8)",
    ],
)
def test_functions_of_a_random_number_are_random(number: str) -> None:
    lines = f"import numpy as np\nk = {number}\nz = x[:, :k]"
    assert any(line.endswith(": k") for line in in_step(lines, "changing-constant"))


COMPARED = """
import outside
NAMES = ["no", "yes"]
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)
    def forward(self, x):
        x = self.layer(x)
        kinds, edges = outside.extend(MADE_OF)
        chosen = kinds > 0
        return INDEXED
"""


@pytest.mark.parametrize(
    ("made_of", "indexed", "masked"),
    [
        ("x", "NAMES[chosen]", False),
        ("x", "('no', 'yes')[chosen]", False),
        ("'kinds.txt'", "x[chosen]", False),  # a choice of the program
        ("x", "x[chosen]", True),
        ("x", "edges[:, chosen]", True),
    ],
)
def test_a_comparison_of_what_a_tensor_gave_is_a_mask_where_it_indexes_one(
    made_of: str, indexed: str, masked: bool
) -> None:
    text = COMPARED.replace("MADE_OF", made_of).replace("INDEXED", indexed)
    assert (f"dynamic-shape mask-read: {indexed}" in said(text)) is masked
