"""Loops of steps and what ends them; modules that move; copies; clocks."""

from __future__ import annotations

import pytest

from .said import IMPORTS, facts, said

LOOP = """
model = nn.Linear(8, 8).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for batch in LOADER:
    loss = model(batch.cuda()).sum()
    loss.backward()
    optimizer.step()
    BODY
"""


def boundaries(text: str) -> list[str]:
    return [f"{f.loop} {f.boundary}" for f in facts(text) if f.kind == "step-boundary"]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("body", "boundary"),
    [
        ("pass", "none"),
        ("torch_xla.sync()", "sync"),
        ("torch_xla.core.xla_model.mark_step()", "sync"),
        ("if batch is None: torch_xla.sync()", "none"),
        ("if is_xla: torch_xla.sync()", "sync"),
        ("loss.item()", "read"),
        ("print(loss)", "read"),
        ("torch_xla.sync(); torch_xla.sync()", "several"),
    ],
)
def test_what_ends_a_step(body: str, boundary: str) -> None:
    assert boundaries(LOOP.replace("BODY", body).replace("LOADER", "loader")) == [f"training {boundary}"]


@pytest.mark.parametrize(
    ("loader", "found"),
    [
        ("torch_xla.distributed.parallel_loader.MpDeviceLoader(loader, 'xla')", ["training loader"]),
        ("torch_xla.distributed.parallel_loader.ParallelLoader(loader, ['xla'])", ["training loader"]),
        (
            "torch_xla.distributed.parallel_loader.ParallelLoader(loader, ['xla']).per_device_loader('xla')",
            ["training loader"],
        ),
        ("range(3)", []),  # a graph of three steps harms nobody
        ("[1, 2]", []),
    ],
)
def test_what_is_looped_over(loader: str, found: list[str]) -> None:
    assert boundaries(LOOP.replace("BODY", "pass").replace("LOADER", loader)) == found


UPDATES = """
import torch_xla.core.xla_model as xm
from transformers import is_torch_xla_available
model = nn.Linear(8, 8).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for batch in loader:
    model(batch.cuda()).sum().backward()
    if is_torch_xla_available():
        xm.optimizer_step(optimizer)
    else:
        optimizer.step()
"""


def test_the_place_is_the_update_that_runs_on_xla() -> None:
    assert said(UPDATES, "step-boundary") == ["step-boundary none: xm.optimizer_step(optimizer)"]


@pytest.mark.parametrize(
    ("first", "last", "place"),
    [
        ("first.step()", "last.step()", "last.step()"),
        ("first.step()", "if i % 5 == 0: last.step()", "first.step()"),
        ("if i % 5 == 0: first.step()", "last.step()", "last.step()"),
        ("if i % 5 == 0: first.step()", "if i % 5 == 0: last.step()", "last.step()"),
    ],
)
def test_the_place_is_the_update_that_runs_most_often(first: str, last: str, place: str) -> None:
    text = f"""
model = nn.Linear(8, 8).cuda()
first, last = torch.optim.SGD(model.parameters(), lr=0.1), torch.optim.SGD(model.parameters(), lr=0.1)
for i, batch in enumerate(loader):
    model(batch.cuda()).sum().backward()
    {first}
    {last}
"""
    (found,) = (f for f in facts(text) if f.kind == "step-boundary")
    assert (IMPORTS + text)[slice(*found.span)] == place


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ("optimizer.step()", "update(i)"),
        ("if i % 4 == 0: optimizer.step()", "update(i)"),
        ("xm.optimizer_step(optimizer)", "update(i)"),
        ("print(i)\noptimizer.zero_grad()", "optimizer.step()"),
    ],
)
def test_the_place_may_be_a_call_of_what_updates(body: str, place: str) -> None:
    body = body.replace("\n", "\n    ")
    more = "" if place == "update(i)" else "optimizer.step()"
    text = f"""
import torch_xla.core.xla_model as xm
model = nn.Linear(8, 8).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
def update(i):
    {body}
for i, batch in enumerate(loader):
    model(batch.cuda()).sum().backward()
    {more}
    update(i)
"""
    assert said(text, "step-boundary") == [f"step-boundary none: {place}"]


def test_what_repeats_a_training_loop_is_no_step() -> None:
    text = """
    def warm(model):
        model(torch.ones(2, 8, device="cuda")).sum().backward()

    def train(loader):
        model = nn.Linear(8, 8).cuda()
        warm(model)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        for batch in loader:
            loss = model(batch.cuda()).sum()
            loss.backward()
            optimizer.step()
        print(loss.item())

    for trial in range(300):
        train(torch.utils.data.DataLoader([]))
    """
    reads = [fact.frequency for fact in facts(text) if fact.kind == "host-read"]
    assert reads == ["epoch"]
    assert len(said(text, "step-boundary")) == 1


def test_epochs_are_no_steps() -> None:
    inner = LOOP.replace("LOADER", "loader").replace("BODY", "torch_xla.sync()").replace("\n", "\n    ")
    assert boundaries(f"for epoch in range(9):{inner}") == ["training sync"]


BUILDS = """
class Encoder(nn.Module):
    def __init__(self, i, o, basic_module):
        super().__init__()
        self.basic_module = MADE
    def forward(self, x):
        return self.basic_module(x)
def encoders(sizes, basic_module):
    made = []
    for i, o in enumerate(sizes):
        made.append(Encoder(i, o, basic_module=basic_module))
    return nn.ModuleList(made)
"""


@pytest.mark.parametrize(
    ("made", "runs"),
    [
        ("basic_module(i, o)", 0),
        ("basic_module(i, o, order='gcr')", 0),
        ("basic_module(torch.ones(i, o))", 1),
    ],
)
def test_a_loop_that_builds_modules_calls_no_model(made: str, runs: int) -> None:
    assert len(boundaries(BUILDS.replace("MADE", made))) == runs


def test_training_on_the_host_has_no_boundary() -> None:
    text = LOOP.replace("LOADER", "loader").replace("BODY", "pass").replace(".cuda()", "")
    assert boundaries(text) == []


def test_layers_are_no_steps() -> None:
    text = """
    class Net(nn.Module):
        def __init__(self):
            self.layers = nn.ModuleList([nn.Linear(8, 8) for _ in range(9)])
        def run(self, x):
            for layer in self.layers:
                x = layer(x)
            return x
    """
    assert boundaries(text) == []


@pytest.mark.parametrize(
    ("between", "found"),
    [
        ("model.to('cuda')", ["module-move optimizer: model.to('cuda')"]),
        ("model.cuda()", ["module-move optimizer: model.cuda()"]),
        ("model.to(torch.bfloat16)", []),
        ("model.to('cpu')", []),
        ("batch = batch.to('cuda')", []),
    ],
)
def test_an_optimizer_of_the_parameters_before(between: str, found: list[str]) -> None:
    text = f"""
    model = nn.Linear(8, 8)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    {between}
    """
    assert said(text, "module-move") == found


def test_an_optimizer_of_the_parameters_after() -> None:
    text = "model = nn.Linear(8, 8).cuda()\nopt = torch.optim.Adam(model.parameters())\nmodel.cuda()\n"
    assert said(text, "module-move", sure=False) == []


def test_weights_that_are_tied_again_after_the_move() -> None:
    text = """
    class Net(nn.Module):
        def __init__(self):
            self.embed, self.head = nn.Embedding(8, 8), nn.Linear(8, 8)
            self.tie()
        def tie(self):
            self.head.weight = self.embed.weight
    model = Net()
    model.cuda()
    """
    assert said(text, "module-move") == ["module-move tie: model.cuda()"]
    assert said(text + "model.tie()\n    ", "module-move") == []


@pytest.mark.parametrize(
    ("wait", "found"),
    [("", ["timing : time.time()"]), ("torch_xla.sync(wait=True)", []), ("y.sum().item()", [])],
)
def test_a_clock_around_work_that_nothing_waits_for(wait: str, found: list[str]) -> None:
    text = f"""
    x = torch.ones(8, device="cuda")
    start = time.time()
    y = x * 2
    {wait}
    print(time.time() - start)
    """
    assert said(text, "timing") == found


@pytest.mark.parametrize(("wait", "found"), [("", ["timing : time.time()"]), ("losses.append(y.item())", [])])
def test_a_clock_around_iterations_that_wait_once_each(wait: str, found: list[str]) -> None:
    text = f"""
    x = torch.ones((), device="cuda")
    end = time.time()
    for i in range(9):
        y = x * 2
        {wait}
        x = y * 3
        print(time.time() - end)
        end = time.time()
    """
    assert said(text, "timing") == found


@pytest.mark.parametrize(("read", "found"), [("length", ["timing : time.time()"]), ("loss", [])])
def test_a_clock_behind_a_loss_of_which_little_is_known(read: str, found: list[str]) -> None:
    text = f"""
    x = torch.ones((), device="cuda")
    {read} = torch.ones(())
    losses = []
    end = time.time()
    for i in range(9):
        x = x * 2
        losses.append({read}.item())
        x = x * 3
        print(time.time() - end)
        end = time.time()
    """
    assert said(text, "timing") == found


@pytest.mark.parametrize(
    ("wait", "found"),
    [
        ("", ["timing : time.time()"]),
        ("losses.append(y.item())", []),
        ("for l in losses: l.update(y.mean().item())", []),
        ("print(i)", ["timing : time.time()"]),
    ],
)
def test_a_clock_that_is_read_at_the_end_of_the_iteration_before(wait: str, found: list[str]) -> None:
    text = f"""
    x = torch.ones((), device="cuda")
    losses = []
    end = time.time()
    for i in range(9):
        waited = time.time() - end
        y = x * 2
        print(time.time() - end)
        end = time.time()
        {wait}
    """
    assert said(text, "timing") == found


@pytest.mark.parametrize(("wait", "found"), [("", ["timing : time.time()"]), ("losses.append(y.item())", [])])
def test_a_clock_that_some_iterations_read(wait: str, found: list[str]) -> None:
    text = f"""
    x = torch.ones((), device="cuda")
    start = time.time()
    for i in range(900):
        y = x * 2
        if i % 100 == 0:
            print(time.time() - start)
            start = time.time()
        {wait}
    """
    assert said(text, "timing") == found


def test_a_clock_around_loading_though_work_follows_the_reading_before() -> None:
    text = """
    model, total = nn.Linear(8, 8).cuda(), torch.zeros((), device="cuda")
    end = time.time()
    for x in torch.utils.data.DataLoader(data):
        print(time.time() - end)
        y = model(x.cuda())
        end = time.time()
        total += y.sum()
    """
    assert said(text, "timing") == []


def test_copies_of_one_batch_are_counted() -> None:
    text = """
    model = nn.Linear(8, 8).cuda()
    loader = torch.utils.data.DataLoader(data)
    for x, y in loader:
        loss = model(x.cuda()).sum() + y.cuda().sum()
        loss.backward()
        optimizer.step()
    """
    assert [f.count for f in facts(text) if f.kind == "transfer"] == ["several", "one"]  # type: ignore[attr-defined]


OWN_LOADER = """
class Batches:
    def __init__(self, rows): self.rows = rows.cuda()
    def __iter__(self):
        for i in range(9):
            yield self.rows[i], i
    def names(self): return ["a"]
model = nn.Linear(8, 8).cuda()
last = torch.ones(8).cuda()
for x, i in Batches(torch.ones(9, 8)):
    last = model(x + last)
"""


def test_a_class_that_yields_batches_is_a_loader() -> None:
    assert boundaries(OWN_LOADER) == ["evaluation none"]
    assert boundaries(OWN_LOADER.replace("__iter__", "rows")) == ["decoding none"]


@pytest.mark.parametrize(
    ("call", "found"),
    [
        ("model(x[i])", ["evaluation none"]),
        ("module(x[i])", ["evaluation none"]),
        ("module(features=x[i], depth=i)", []),
        ("mask_generator(int(i * 2))", []),
        ("mask_generator(x[i])", ["evaluation none"]),
    ],
)
def test_what_makes_something_of_settings_is_no_model(call: str, found: list[str]) -> None:
    head = "def f(model, module, mask_generator, x: torch.Tensor):\n    made = []\n"
    loop = f"{head}    for i in range(9):\n        made.append({call})\n"
    assert boundaries(loop) == found


SAMPLES = """
def sample(model, tokens):
    for _ in range(64):
        tokens = torch.cat([tokens, model(tokens).argmax(-1)])
        if tokens.max() == 3:
            break
    return tokens

device = torch_xla.device()
model = nn.Linear(8, 8).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for i, batch in enumerate([torch.ones(2, 8)] * 9):
    model(batch.to(device)).sum().backward()
    optimizer.step()
    if WHEN:
        sample(model, torch.ones(2, 8, device=device))
"""


def test_a_loop_that_decodes_in_some_training_steps_is_one_of_decoding() -> None:
    assert "host-read truth: tokens.max() == 3" in said(SAMPLES.replace("WHEN", "i % 1000 == 0"))
    kinds = [f.loop for f in facts(SAMPLES.replace("WHEN", "i % 1000 == 0")) if f.kind == "step-boundary"]
    assert sorted(kinds) == ["decoding", "training"]


def test_a_loop_of_model_calls_in_each_training_step_is_no_loop_of_steps() -> None:
    kinds = [f.loop for f in facts(SAMPLES.replace("WHEN", "True")) if f.kind == "step-boundary"]
    assert kinds == ["training"]


INNER = """
from elsewhere import Recommender
class Encoders(Recommender):
    def __init__(self, count):
        super().__init__()
        self.count = count
        self.encoder = self.layers(8)
    def NAME(self, x):
        x = torch.relu(x)
        total = None
        for k in range(self.count):
            part = torch.exp(self.encoder(x * k))
            total = part if total is None else total + part
        return total
    def loss(self, x):
        return self.NAME(x).sum()
"""


def test_a_loop_in_a_forward_is_no_loop_of_steps() -> None:
    assert boundaries(INNER.replace("NAME", "forward")) == []
    assert boundaries(INNER.replace("NAME", "sample")) == ["decoding none"]


@pytest.mark.parametrize(
    ("test", "frequency"),
    [
        ("i % 100 == 99 and broken > 0", "interval"),
        ("i > 3 and i % 100 == 99 and broken > 0", "interval"),
        ("i % 100 != 0 or broken > 0", "interval"),
        ("i % 100 != 99 and broken > 0", "step"),
        ("i % 100 == 99 or broken > 0", "step"),
        ("broken > 0 and i % 100 == 99", "step"),
    ],
)
def test_the_second_test_of_a_chain_runs_as_often_as_the_first_lets_it(test: str, frequency: str) -> None:
    text = f"""
    model = nn.Linear(8, 8).cuda()
    broken = torch.zeros((), device="cuda")
    for i, (x, y) in enumerate(torch.utils.data.DataLoader(data)):
        loss = model(x.cuda()).sum()
        broken += loss.isnan()
        loss.backward()
        optimizer.step()
        if {test}:
            pass
    """
    assert [f.frequency for f in facts(text) if f.kind == "host-read"] == [frequency]


REPEATS = """
class Net(nn.Module):
    def forward(self, x, counts):
        out = prepare(x)
        ...
"""


@pytest.mark.parametrize(
    ("line", "confidence"),
    [
        ("x.repeat_interleave(counts, dim=1)", "possible"),  # a number, for all that is known
        ("x.repeat_interleave((x > 0).sum(0), dim=1)", "likely"),
    ],
)
def test_repeats_are_dynamic_only_as_far_as_the_count_is_a_tensor(line: str, confidence: str) -> None:
    found = facts(REPEATS.replace("...", f"return {line}"))
    assert [f.confidence for f in found if f.kind == "dynamic-shape"] == [confidence]


@pytest.mark.parametrize(
    ("key", "confidence"),
    [("num_frames", "possible"), ("epoch", "possible"), ("text_input", "possible"), ("frames", "likely")],
)
def test_a_count_in_a_mapping_of_unknown_origin_is_hardly_a_tensor(key: str, confidence: str) -> None:
    text = f"""
    from elsewhere import Model
    model = Model().cuda()
    for x in torch.utils.data.DataLoader(data):
        out = model(x.cuda())
        int(out["{key}"])
    """
    assert [f.confidence for f in facts(text) if f.kind == "host-read"] == [confidence]


LAYERS = """
class Swin(nn.Module):
    def __init__(self, count):
        super().__init__()
        self.count = count
        self.blocks = nn.ModuleList(Block() for _ in range(count))
        self.PARTS = self.blocks
    def features(self, x):
        for i in range(self.count):
            part = GET
            x = part(x)
        return x
class Block(nn.Module):
    def forward(self, x):
        for part in (relu, tanh, relu):
            model = part
            x = model(x)
        return x
"""


@pytest.mark.parametrize("get", ["self.PARTS[i]", 'getattr(self, f"PARTS{i}")'])
def test_parts_of_a_module_by_number_are_no_steps(get: str) -> None:
    text = LAYERS.replace("GET", get)
    assert boundaries(text.replace("PARTS", "layers")) == []


PREPARE = """
def prepare(found, kind):
    if kind == "boxes":
        return found.tolist()
    elif kind == "masks":
        return found.cpu()
    else:
        OTHER
model = nn.Linear(8, 8).cuda()
for batch in loader:
    prepare(model(batch.cuda()), kind)
"""


@pytest.mark.parametrize(
    ("other", "boundary"),
    [("raise ValueError(kind)", "read"), ("return found", "some"), ("sys.exit(1)", "read")],
)
def test_a_branch_that_ends_the_program_takes_no_read_away(other: str, boundary: str) -> None:
    assert boundaries(PREPARE.replace("OTHER", other)) == [f"evaluation {boundary}"]


@pytest.mark.parametrize(
    ("test", "frequency"),
    [
        ("y.isnan().any() | y.isinf().any()", "interval"),
        ("(y > 2).any() & y.isnan().any()", "interval"),
        ("(y > 2).any() | (y < 1).any()", "step"),
    ],
)
def test_what_follows_a_nan_runs_in_few_steps(test: str, frequency: str) -> None:
    text = f"""
    model = nn.Linear(8, 8).cuda()
    for batch in loader:
        y = model(batch.cuda())
        y.sum().backward()
        if {test}:
            print(y.item())
    """
    (read,) = [f for f in facts(text) if f.kind == "host-read" and f.via == "item"]  # type: ignore[attr-defined]
    assert read.frequency == frequency


SHOWN = """
model = nn.Linear(8, 8).cuda()
for batch in loader:
    y = model(batch.cuda())
    COPY
    kept.append(y.tolist())
"""


@pytest.mark.parametrize(
    ("copy", "read"),
    [
        ("if args.use_gpu: y = y.cpu()", False),
        ("if cfg.NUM_GPUS > 0: y = y.cpu()", False),
        ("y = y.detach().cpu() if args.cuda else y.detach()", False),
        ("if args.save: y = y.cpu()", True),
        ("if y.is_cuda: y = y.cpu()", True),
        ("if args.use_gpu: y = y.float()", True),
        ("y = y.cpu() if args.save else y.detach()", True),
    ],
)
def test_what_a_flag_for_gpus_copies_is_on_the_host(copy: str, read: bool) -> None:
    found = said(SHOWN.replace("COPY", copy), "host-read")
    assert any(line.endswith(": y.tolist()") for line in found) is read


STEP = """
class Adam(torch.optim.Optimizer):
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                state["step"] += 1
                bias = 1 - 0.9 ** state["step"]
                p.grad.CALL
                if state["step"] >= 5:
                    p.data.add_(p.grad / math.sqrt(bias))
"""


@pytest.mark.parametrize(
    "call",
    ["addcmul_(1 - bias, p.grad, p.grad)", "addcdiv_(-bias, p.grad, p.grad)", "add_(1 - bias, p.grad.sum())"],
)
def test_a_number_first_in_the_old_order_of_arguments(call: str) -> None:
    assert [f for f in facts(STEP.replace("CALL", call)) if f.kind == "host-read"] == []


def test_a_method_that_is_not_called_is_no_tensor() -> None:
    text = """
    class Head(nn.Module):
        def forward(self, batch):
            print("{}".format(batch.NAME))
            return batch.x
    """
    read = [[f.kind for f in facts(text.replace("NAME", name))] for name in ("split", "y")]
    assert "host-read" not in read[0] and "host-read" in read[1]


CLASSES = """
class Perceptron(nn.Module):
    def __init__(self, count, activation: nn.ReLU):
        super().__init__()
        parts = []
        for _ in range(count):
            parts.extend([nn.Linear(8, 8), activation()])
        self.parts = nn.Sequential(*parts)
"""


def test_a_class_that_makes_parts_is_no_model_call() -> None:
    assert boundaries(CLASSES) == []


HANDED = """
def show(vector: torch.Tensor):
    return vector.tolist()
model = nn.Linear(8, 8).cuda()
for batch in loader:
    show(elsewhere.parse(GIVEN))
"""


@pytest.mark.parametrize(
    ("given", "read"), [("model(batch.cuda()).cpu()", False), ("model(batch.cuda())", True)]
)
def test_a_parameter_is_where_the_caller_computed_it(given: str, read: bool) -> None:
    found = said(HANDED.replace("GIVEN", given), "host-read")
    assert any(line.endswith(": vector.tolist()") for line in found) is read


KEPT = """
model = nn.Linear(8, 8)MOVE
kept = []
for batch in torch.utils.data.DataLoader(data):
    out = model(batch.cuda())
    BODY
"""


@pytest.mark.parametrize(
    ("body", "boundary"),
    [
        ("print(out.sum().item())", "read"),
        ("kept.append(out.cpu())", "read"),
        ("kept.append(out.sum().item())", "read"),
        ("print(out.tolist())\n    kept.append(out)", "read"),
        ("print(out.tolist())\n    kept.append(out.detach())", "read"),
        ("print(out.tolist())\n    kept.append(batch)", "read"),
        ("print(out.tolist())\n    kept.append(out)\n    torch_xla.sync()", "sync"),
        ("kept.append(out)", "none"),
        ("print(out.argmax(-1).tolist())\n    kept.append(out)", "part"),
        ("kept.append(out * 2)\n    print(out.tolist())", "part"),
    ],
)
def test_a_read_leaves_other_results_to_be_computed(body: str, boundary: str) -> None:
    for move in (".cuda()", ".to(args.device)"):
        assert boundaries(KEPT.replace("BODY", body).replace("MOVE", move)) == [f"evaluation {boundary}"]


ENTRY = """
class Transducer(nn.Module):
    def forward(self, batch):
        entry = batch.GET
        if entry < 8:
            return batch["x"]
        return batch["y"]
"""


@pytest.mark.parametrize(
    ("get", "read"), [('get("steps", 0)', False), ('get("steps")', True), ('get("steps", None)', True)]
)
def test_an_entry_is_like_its_default(get: str, read: bool) -> None:
    assert bool(said(ENTRY.replace("GET", get), "host-read", sure=False)) is read


CUT = """
def show(y, kind, i):
    BODY
model = nn.Linear(8, 8).cuda()
for i, batch in enumerate(loader):
    show(model(batch.cuda()), kind, i)
"""


@pytest.mark.parametrize(
    ("body", "boundary"),
    [
        ("print(y.sum().item())", "read"),
        ("if kind: print(y.sum().item())", "some"),
        ("if kind is not None and y.sum() > 0: print('large')", "read"),
        ("if i % 100 == 0: print(y.sum().item())", "none"),
        ("return y", "none"),
    ],
)
def test_what_a_called_function_reads_ends_the_iteration(body: str, boundary: str) -> None:
    assert boundaries(CUT.replace("BODY", body)) == [f"evaluation {boundary}"]


CHOSEN = """
class Trainer:
    def run_step(self, image):
        BRANCH
        return output.sum()
    def run_part(self, part):
        for _, image in enumerate(self.provider.train):
            self.optimizer.zero_grad()
            self.run_step(image.cuda()).backward()
            self.optimizer.step()
    def train_all(self):
        self.model = nn.Linear(8, 8).cuda()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        for batch in torch.utils.data.DataLoader(data):
            self.run_step(batch.cuda()).backward()
            self.optimizer.step()
            self.run_part(0)
"""
ONE = "output = self.model(image) if random.random() > 0.5 else self.model(-image)"
MANY = """
        output = image
        for layer in (self.model, self.model):
            if random.random() > 0.5:
                output = layer(output)
"""


@pytest.mark.parametrize(("branch", "count"), [(ONE, 0), (MANY.strip(), 1)])
def test_one_random_choice_in_a_step_gives_two_programs(branch: str, count: int) -> None:
    assert len(said(CHOSEN.replace("BRANCH", branch), "changing-path")) == count


SAMPLER = """
def level(t):
    return t * 2
def loud(t):
    print(t.item())
    return t
def above(value, *, least):
    scaled = value * 2
    return float(scaled.max()) > least
def is_late(when, y):
    return above(when, least=0.5)
def all_above(least, *values):
    return all(float(value.max()) > least for value in values)
def listed(one, other):
    kept = []
    kept.append(other)
    return torch.stack(kept).max().item()
def sample(model, x, steps):
    seen = []
    for t_now, t_next in zip(steps[:-1], steps[1:]):
        BODY
        x = x + model(x, t_now) * (t_next - t_now)
    return x
model = nn.Linear(8, 8).cuda()
sample(model, torch.ones(2, 8).cuda(), torch.linspace(0, 1, 50, device="cuda"))
"""


@pytest.mark.parametrize(
    ("body", "boundary"),
    [
        ("gamma = 0.1 if 0.1 <= level(t_now) <= 0.5 else 0.0", "part"),
        ("if t_now > 0.5: x = x * 2", "part"),
        ("scale = t_now * 2\n        if scale > 0.5: x = x * 2", "part"),
        ("t_now = t_now * 2\n        if t_now > 0.5: x = x * 2", "part"),
        ("if x.max() > 3: break", "read"),
        ("y = x * 2\n        if y.max() > 3: break", "read"),
        ("loud(t_now)", "part"),
        ("loud(x)", "read"),
        ("loud(t_now)\n        loud(x)", "read"),
        ("y = x * 2\n        loud(y)", "read"),
        ("if above(t_now, least=0.5): x = x * 2", "part"),
        ("if above(least=0.5, value=t_now): x = x * 2", "part"),
        ("if above(least=0.5, value=x): x = x * 2", "read"),
        ("if above(t_now, **{'least': 0.5}): x = x * 2", "read"),
        ("if is_late(t_now, x): x = x * 2", "part"),
        ("if is_late(x, t_now): x = x * 2", "read"),
        ("if all_above(0.5, x): x = x * 2", "read"),
        ("listed(x, t_now)", "part"),
        ("listed(t_now, x)", "read"),
        ("ask = lambda t: loud(t)\n        ask(x)", "read"),
        ("def show(when): print(x.max().item(), when.item())\n        show(t_now)", "read"),
        ("for row in x: loud(row)", "read"),
        ("kept: torch.Tensor = x * 2\n        loud(kept)", "read"),
        ("loud(kept := x * 2)\n        loud(kept)", "read"),
        ("seen.append(model(x, t_now))\n        loud(seen[-1])", "read"),
        ("pass", "none"),
    ],
)
def test_a_read_of_the_time_leaves_the_sample_to_be_computed(body: str, boundary: str) -> None:
    assert boundaries(SAMPLER.replace("BODY", body)) == [f"decoding {boundary}"]


OWNED = """
from elsewhere import Lightning, made
class Sampler(Lightning):
    def __init__(self, config):
        super().__init__()
        self.NAME = made(config)
    def sample(self, x):
        for k in range(self.steps):
            x = torch.cat((x, self.NAME(x).argmax(-1)), 1)
        return x
"""


@pytest.mark.parametrize(("name", "found"), [("transformer", ["decoding none"]), ("projection", [])])
def test_a_transformer_that_a_module_holds_is_a_model(name: str, found: list[str]) -> None:
    assert boundaries(OWNED.replace("NAME", name)) == found


STYLES = """
model = nn.Linear(8, 8).cuda()
styles = [torch.ones(8).cuda() for _ in range(n)]
def translate(LOADER):
    for x in LOADER:
        made = [x.cuda()]
        for style in styles:
            made.append(model(x.cuda() + style))
        torch.cat(made).cpu()
def translate_once(x):
    made = []
    for style in styles:
        made.append(model(x.cuda() + style))
    return made
"""


def test_a_loop_over_a_list_is_a_part_of_the_step_around_it() -> None:
    assert boundaries(STYLES.replace("LOADER", "loader")) == ["evaluation read", "evaluation none"]


@pytest.mark.parametrize(
    ("keep", "found"),
    [
        ("kept.append(loss)", ["evaluation read"]),
        ("kept.append(loss)\n    report(kept)", ["evaluation read"]),
        ("keep(kept, loss.cpu())", ["evaluation read"]),
        ("kept.append(x)", ["evaluation part"]),
        ("keep(kept, x)", ["evaluation part"]),
    ],
)
def test_what_a_function_keeps_of_an_iteration_is_left_to_compute(keep: str, found: list[str]) -> None:
    text = f"""
    model = nn.Linear(8, 8).cuda()
    def keep(kept, value):
        kept.append(value)
    def report(kept):
        print(len(kept))
    kept, total = [], 0
    for batch in loader:
        x = model(batch.cuda())
        loss = x.sum()
        total += loss.item()
        {keep.replace(chr(10), chr(10) + "    ")}
    """
    assert boundaries(text) == found
