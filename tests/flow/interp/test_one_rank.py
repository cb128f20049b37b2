"""Work that one rank does alone, and models that are taken to the CPU to be saved."""

from __future__ import annotations

import pytest

from xlamig.facts import Fact, Interest, ModuleMove, RankCall
from xlamig.flow import facts_of
from xlamig.syntax import module_from_text

from .said import IMPORTS, facts

TRAINING = """
import torch.distributed as dist, torch_xla.core.xla_model as xm
device = torch_xla.device()
model = nn.Linear(8, 8).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

def validate(model, loader):
    for x, y in loader:
        print(model(x.to(device)).argmax(-1).cpu())

def save(model, path):
    torch.save({"model": model.state_dict()}, path)

def norm(model):
    return sum(p.norm().item() for p in model.parameters())

def average(value):
    return xm.all_reduce(xm.REDUCE_SUM, value) / 8

def write(text):
    open("log.txt", "a").write(text)

def train(loader, rank, epochs):
    for epoch in range(epochs):
        for x, y in loader:
            loss = model(x.to(device)).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            STEP
        EPOCH

train(torch.utils.data.DataLoader(data), dist.get_rank(), 3)
"""


READS = "if rank == 0:\n    for v in d: print(v.item())"
VALUES = "if rank == 0:\n    for v in d.values(): print(v.item())"


def found(kind: type[Fact], epoch: str = "pass", step: str = "pass") -> list[Fact]:
    indented = epoch.replace("\n", "\n        ")
    text = IMPORTS + TRAINING.replace("STEP", step.replace("\n", "\n            ")).replace("EPOCH", indented)
    return [fact for fact in facts_of_text(text) if isinstance(fact, kind)]


def facts_of_text(text: str) -> tuple[Fact, ...]:
    return facts_of(module_from_text(text), text, "train", False, Interest(), {}).facts


def effects(epoch: str = "pass", step: str = "pass") -> list[str]:
    return [fact.effect for fact in found(RankCall, epoch, step) if isinstance(fact, RankCall)]


@pytest.mark.parametrize(
    "epoch",
    [
        "validate(model, loader)",
        "average(loss)",
        "if rank == 0: write(str(epoch))",
        "if rank == 0: print(epoch)",
        "if epoch == 0: validate(model, loader)",
        "torch_xla.sync()\nif rank == 0: save(model, 'a')",
        "torch_xla.sync()\nif rank == 0: norm(model)",
        "norm(model)",
        "if rank == 0: validate(model, loader); print(epoch)\nelse: validate(model, loader)",
        "f = lambda: average(loss)\nif rank == 0: optimizer.step(f)\nelse: f()",
        "torch_xla.sync()\nif rank == 0: validate(model, loader)",
        "state = {k: v.cpu() for k, v in model.state_dict().items()}\nif rank == 0: torch.save(state, 'a')",
        "accelerator.wait_for_everyone()",
        "found = None if rank == 0 else validate(model, loader)",
        "value = average(loss).item()\nif rank == 0: print(value)",
        "value = average(loss)\ntorch_xla.sync()\nif rank == 0: print(value.item())",
        "def show(value): print(value.item())\nvalue = average(loss)\nshow(value)",
        "def show(v): print(v.item())\nvalue = average(loss)\ntorch_xla.sync()\nif rank == 0: show(value)",
        "if rank == 0: print(nn.Linear(2, 2)(torch.ones(2)))",
        f"d = {{'a': loss.detach()}}\n{VALUES}",
        "d = {'a': loss.detach(), 'b': loss * 1}\ndist.all_reduce(d['a'])\nif rank == 0: float(d['b'])",
        f"d = [loss.detach()]\nfor v in others: dist.all_reduce(v)\n{READS}",
        f"d = [torch.zeros_like(loss)]\ndist.broadcast(d[0], 0)\n{READS}",
        "if rank == 0: dist.all_reduce(loss)",  # a rule of its own reads the call
    ],
)
def test_reports_nothing_that_one_rank_may_do(epoch: str) -> None:
    assert effects(epoch) == []


@pytest.mark.parametrize(
    ("epoch", "effect"),
    [
        ("if rank == 0: validate(model, loader)", "model"),
        ("if rank == 0: print(model(x.to(device)))", "model"),
        ("if rank == 0: validate(model, loader)\nelse: print(epoch)", "model"),
        ("f = lambda: average(loss)\nif rank == 0: optimizer.step(f)\nelse: print(f)", "collective"),
        ("if rank != 0: continue\nvalidate(model, loader)", "model"),
        ("if rank == 0: save(model, 'a')", "save"),
        ("if rank == 0: norm(model)", "parameters"),
        ("import pickle\nif rank == 0: pickle.dump(model.state_dict(), open('a', 'wb'))", "save"),
        ("found = validate(model, loader) if rank == 0 else None", "model"),
        ("rank == 0 and validate(model, loader)", "model"),
        ("if rank == 0: accelerator.wait_for_everyone()", "collective"),
        ("if rank == 0: model.save_pretrained('a')", "save"),
        ("if xm.is_master_ordinal(): average(loss)", "collective"),
        ("torch_xla.sync()\nif rank == 0: average(loss)", "collective"),
        ("value = average(loss)\nif rank == 0: print(value.item())", "read"),
        ("def show(value): print(value.item())\nvalue = average(loss)\nif rank == 0: show(value)", "read"),
        ("total = loss.detach()\ndist.all_reduce(total)\nif rank == 0: print(total.item())", "read"),
        ("d = {'a': loss.detach()}\ndist.all_reduce(d['a'])\nif rank == 0: print(d['a'].item())", "read"),
        (f"d = [loss.detach()]\nfor v in d: dist.all_reduce(v)\n{READS}", "read"),
        (f"d = [loss.detach()]\nfor i in range(1): dist.all_reduce(d[i])\n{READS}", "read"),
        (f"d = {{'a': loss.detach()}}\nfor v in d.values(): dist.all_reduce(v)\n{VALUES}", "read"),
        (f"d = {{'a': loss.detach()}}\nfor k, v in d.items(): dist.all_reduce(v)\n{VALUES}", "read"),
        (f"d = [loss.detach()]\nfor i, v in enumerate(d): dist.all_reduce(v)\n{READS}", "read"),
        (f"d = [torch.zeros_like(loss) for _ in range(8)]\ndist.all_gather(d, loss)\n{READS}", "read"),
        ("@rank_zero_only\ndef show(): average(loss)\nshow()", "collective"),
    ],
)
def test_reports_what_all_ranks_have_to_do(epoch: str, effect: str) -> None:
    assert effects(epoch) == [effect]


SAVED = """
import torch.distributed as dist
import torch.distributed.checkpoint.state_dict as states
from torch.distributed.fsdp import FullStateDictConfig, FullyShardedDataParallel as FSDP, StateDictType
FULL = FullStateDictConfig(offload_to_cpu=True, rank0_only=True)
ON_DEVICE = FullStateDictConfig(rank0_only=True)
KIND = StateDictType.FULL_STATE_DICT
device = torch_xla.device()
model = nn.Linear(8, 8).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

def save(state, path):
    torch.save(state, path)

def train(loader, rank, parts):
    for x, y in loader:
        model(x.to(device)).sum().backward()
        optimizer.step()
    GATHER
    if rank == 0:
        save(state, "a")

train(torch.utils.data.DataLoader(data), dist.get_rank(), [])
"""
GETS = "state = states.get_model_state_dict(model"
LOOP = "state = model.state_dict()\nfor name, value in state.items():"


def saved(state: str) -> list[str]:
    text = IMPORTS + SAVED.replace("GATHER", state.replace("\n", "\n    "))
    return [fact.effect for fact in facts_of_text(text) if isinstance(fact, RankCall)]


@pytest.mark.parametrize(
    "state",
    [
        "with FSDP.state_dict_type(model, KIND, FULL):\n    state = model.state_dict()",
        "with FSDP.state_dict_type(model, KIND, FullStateDictConfig(offload_to_cpu=True)):\n"
        "    state = {'model': model.state_dict(), 'step': 1}",
        f"{GETS}, options=states.StateDictOptions(full_state_dict=True, cpu_offload=True))",
        f"{LOOP}\n    state[name] = value.cpu()",
        "state = model.state_dict()\nfor name in list(state.keys()):\n    state[name] = state[name].cpu()",
        f"{LOOP}\n    if name.startswith('module.'): name = name[7:]\n    state[name] = value.cpu()",
        f"{LOOP}\n    state[name] = value.cpu()\nstate = {{'model': state}}",
    ],
)
def test_lets_one_rank_save_what_was_copied_to_the_host(state: str) -> None:
    assert saved(state) == []


@pytest.mark.parametrize(
    "state",
    [
        "state = model.state_dict()",
        "with FSDP.state_dict_type(model, KIND, ON_DEVICE):\n    state = model.state_dict()",
        "with FSDP.state_dict_type(model, KIND, FULL):\n    pass\nstate = model.state_dict()",
        f"{LOOP}\n    if 'head' in name: state[name] = value.cpu()",
        "state = model.state_dict()\nfor name in parts:\n    state[name] = state[name].cpu()",
        f"{LOOP}\n    state[name] = value.float()",
        "state = model.state_dict()\nstate['weight'] = state['weight'].cpu()",
    ],
)
def test_reports_state_that_is_saved_from_the_device(state: str) -> None:
    assert saved(state) == ["save"]


COPIED = """
state = model.state_dict()
for name, value in state.items():
    state[name] = value.cpu()
torch.save({"model": state}, "a")"""


def test_reports_copies_of_the_state_that_one_rank_makes() -> None:
    assert effects("if rank == 0:" + COPIED.replace("\n", "\n    ")) == ["parameters"]
    assert effects("torch_xla.sync()\nif rank == 0:" + COPIED.replace("\n", "\n    ")) == []


STARTED = """
import torch.distributed as dist
def main_worker(gpu, args):
    args.gpu = gpu
    GROUP
    model = nn.Linear(8, 8).cuda(gpu)
    for epoch in range(3):
        for x, y in args.loader:
            model(x).sum().backward()
            args.optimizer.step()
        if TEST == 0:
            torch.save(model.state_dict(), "a")
START
"""
WITH_RANK = "dist.init_process_group('nccl', rank=args.gpu)"


@pytest.mark.parametrize(
    ("group", "start", "test", "effect"),
    [
        ("pass", "main_worker(0, args)", "gpu", []),  # one process
        (WITH_RANK, "main_worker(0, args)", "args.seed", []),
        ("pass", "mp.spawn(other, args=(args,))", "gpu", []),
        (WITH_RANK, "main_worker(0, args)", "args.gpu", ["save"]),
        ("pass", "mp.spawn(main_worker, nprocs=8, args=(args,))", "gpu", ["save"]),
        ("pass", "mp.spawn(main_worker, nprocs=8, args=(args,))", "epoch", []),
    ],
)
def test_a_number_given_to_each_process_is_its_rank(
    group: str, start: str, test: str, effect: list[str]
) -> None:
    text = IMPORTS + STARTED.replace("GROUP", group).replace("START", start).replace("TEST", test)
    assert [fact.effect for fact in facts_of_text(text) if isinstance(fact, RankCall)] == effect


@pytest.mark.parametrize(
    ("epoch", "found"),
    [
        ("xm.save(model.state_dict(), 'a')", []),
        ("with open('a', 'rb') as f: xm.save(model.state_dict(), f)", []),
        ("with open('a', 'w') as f: f.write('1')", []),
        ("with open('a', 'wb') as f: xm.save(model.state_dict(), f)", ["file"]),
    ],
)
def test_reports_a_file_that_all_ranks_open(epoch: str, found: list[str]) -> None:
    assert effects(epoch) == found


def moves(epoch: str) -> list[str]:
    return [fact.via for fact in found(ModuleMove, epoch, "torch_xla.sync()") if isinstance(fact, ModuleMove)]


@pytest.mark.parametrize(
    "epoch",
    [
        "pass",
        "copy.deepcopy(model).cpu()",
        "state = {k: v.cpu() for k, v in model.state_dict().items()}",
        "other = nn.Linear(8, 8).to(device)\nother.cpu()",
    ],
)
def test_reports_nothing_of_models_that_stay(epoch: str) -> None:
    assert moves(f"import copy\n{epoch}") == []


def test_reports_a_model_that_comes_back_with_other_parameters() -> None:
    assert moves("model.cpu()\ntorch.save(model.state_dict(), 'a')\nmodel.to(device)") == ["optimizer"]


@pytest.mark.parametrize("epoch", ["model.cpu()", "torch.save(model.to('cpu').state_dict(), 'a')"])
def test_reports_a_model_that_stays_on_the_cpu(epoch: str) -> None:
    assert moves(epoch) == ["away"]


def test_reports_nothing_of_a_model_that_leaves_after_the_training() -> None:
    text = TRAINING.replace("STEP", "pass").replace("EPOCH", "pass") + "\nmodel.cpu()\n"
    assert [fact for fact in facts(text) if isinstance(fact, ModuleMove)] == []


@pytest.mark.parametrize(
    ("state", "saves"),
    [
        ("model.state_dict()", True),
        ("{'model': model.state_dict(), 'epoch': epoch}", True),
        ("{k: v.cpu() for k, v in model.state_dict().items()}", False),
    ],
)
def test_reports_what_one_rank_saves_of_the_device(state: str, saves: bool) -> None:
    epoch = f"state = {state}\nif rank != 0: continue\ntorch.save(state, 'a')"
    assert ("save" in effects(epoch)) == saves


HOOKS = """
import lightning.pytorch as pl
from lightning.pytorch.utilities import rank_zero_only

class Show(pl.Callback):
    @rank_zero_only
    def HOOK(self, trainer, module: pl.LightningModule, outputs, batch):
        for noise in batch:
            show(module.net, noise.to(module.device))

def show(net: nn.Module, noise: torch.Tensor):
    print(net(noise).cpu())
"""


@pytest.mark.parametrize(
    ("hook", "base", "found"),
    [
        ("on_train_batch_end", "pl.Callback", []),
        ("on_validation_epoch_end", "pl.Callback", []),
        ("on_before_optimizer_step", "pl.Callback", ["model"]),
        ("on_train_batch_end", "Callback", ["model"]),
        ("show_batch", "pl.Callback", ["model"]),
    ],
)
def test_lightning_ends_the_step_before_most_hooks(hook: str, base: str, found: list[str]) -> None:
    text = IMPORTS + HOOKS.replace("HOOK", hook).replace("pl.Callback", base)
    every = facts_of(module_from_text(text), text, "hooks", False, Interest(), {}).facts
    assert [fact.effect for fact in every if isinstance(fact, RankCall)] == found


AVERAGE = """
class Average:
    def __init__(self, model):
        self.module = copy.deepcopy(model)

    def update(self, model):
        for mine, new in zip(self.module.parameters(), model.parameters()):
            WRITE

    def count(self, model):
        return sum(p.numel() for p in model.parameters())

mean = Average(model)
kept = Average(model) if dist.get_rank() == 0 else None
"""


def effects_of_average(
    step: str, write: str = "mine.mul_(0.9).add_(new, alpha=0.1)", average: str = AVERAGE
) -> list[str]:
    text = "import copy\n" + IMPORTS + TRAINING.replace("STEP", step.replace("\n", "\n            "))
    text = text.replace("EPOCH", "pass")
    text = text.replace("def validate", average.replace("WRITE", write) + "\ndef validate")
    return [fact.effect for fact in facts_of_text(text) if isinstance(fact, RankCall)]


@pytest.mark.parametrize("guard", ["rank == 0", "kept", "kept is not None"])
def test_reports_an_average_of_the_weights_on_one_rank(guard: str) -> None:
    assert effects_of_average(f"if {guard}: mean.update(model)") == ["update"]


@pytest.mark.parametrize(
    "write",
    ["mine.data.mul_(0.9)", "mine.data = 0.9 * mine.data", "mine.copy_(0.9 * mine)", "mine *= 0.9"],
)
def test_knows_the_ways_to_write_an_average(write: str) -> None:
    assert effects_of_average("if rank == 0: mean.update(model)", write) == ["update"]


@pytest.mark.parametrize(
    "step",
    [
        "mean.update(model)",
        "torch_xla.sync()\nif rank == 0: mean.update(model)",
        "if rank == 0: mean.count(model)",
        "if kept is None: mean.count(model)",
    ],
)
def test_reports_no_average_that_all_ranks_make_or_that_is_a_graph_of_its_own(step: str) -> None:
    assert effects_of_average(step) == []


def test_reports_no_average_on_the_host() -> None:
    text = AVERAGE.replace("copy.deepcopy(model)", "copy.deepcopy(model).cpu()")
    assert effects_of_average("if rank == 0: mean.update(model)", "mine.mul_(0.9)", text) == []
