"""Code that runs every step, in a loader's workers, on one rank or in a test."""

from __future__ import annotations

import pytest
from reading import facts_in

from xlamig.facts import ApiUse

HERE = "torch.cuda.synchronize()"
OFTEN = {"forward", "training-loop", "per-step"}
HEAD = """import torch, torch.distributed as dist
from torch import nn
from torch.utils.data import Dataset, DataLoader, IterableDataset
from pytorch_lightning import LightningModule
"""


def the(source: str, **given: object) -> ApiUse:
    (use,) = facts_in(HEAD + source.replace("HERE", HERE), ApiUse, **given)
    return use


def words(source: str, **given: object) -> set[str]:
    return set(the(source, **given).context) - {"cuda-program", "loop", "assigned"}


@pytest.mark.parametrize(
    "source",
    [
        "def forward(x): HERE",
        "class A:\n def forward(self): HERE",
        "class A(object):\n def forward(self): HERE",
        "class A(Protocol):\n def forward(self): HERE",
        "class A(nn.Module):\n def __init__(self): HERE",
        "class A(nn.Module):\n def fit(self): HERE",
        "class A(nn.Module):\n HERE\n def forward(self): pass",
        "class A(nn.Module):\n def forward(self, x=HERE): pass",
        "class A(nn.Module):\n @f(HERE)\n def forward(self): pass",
        "class A(nn.Module):\n def forward(self): other.fit()\n def fit(self): HERE",
        "class A(nn.Module):\n def forward(self): self.fit_all()\n def fit(self): HERE",
        "class A(nn.Module):\n def forward(self): 'self.fit()'\n def fit(self): HERE",
        "class A(nn.Module):\n def forward(self): self.x.fit()\n def fit(self): HERE",
        "class A(Thing):\n def training_step(self): HERE",
        "class A(nn.Module):\n def test_step(self, data):\n  HERE\n  for x in DataLoader(data): self(x)",
        "class A(Thing):\n def loss(self): HERE",
        "import pydantic\nclass A(pydantic.BaseModel):\n def loss(self): HERE",
        "import tensorflow as tf\nclass A(tf.keras.Model):\n def test_step(self): HERE",
        "from flax import linen\nclass A(linen.Module):\n def __call__(self): HERE",
        "class A(Trainer):\n def __call__(self): HERE",
        "class A(torch.autograd.Function):\n def apply(self): HERE",
        "for a in b: HERE",
        "for a in b:\n env.step(a)\n HERE",
        "for a in b:\n scheduler.step()\n HERE",
        "for a in b:\n options.step()\n HERE",
        "for a in b:\n s = torch.optim.lr_scheduler.StepLR(o)\n s.step()\n HERE",
        "for a in b:\n x = backward(a)\n HERE",
        "for a in b:\n # loss.backward()\n HERE",
        "for a in b:\n for c in a: loss.backward()\n HERE",  # epochs
        "for a in b:\n o.zero_grad()\n for c in a: loss.backward()\n HERE",
        "for a in b:\n for o in os: o.step()\n HERE",
        "for a in b:\n def f(): loss.backward()\n HERE",
        "for a in b: loss.backward()\nelse: HERE",
        "for a in HERE: loss.backward()",
        "loss.backward()\nHERE",
    ],
)
def test_no_step(source: str) -> None:
    assert not words(source) & OFTEN
    assert the(source).frequency == "unknown"


@pytest.mark.parametrize(
    "source",
    [
        "class A(nn.Module):\n def forward(self): HERE",
        "class A(nn.Module):\n async def forward(self): HERE",
        "class A(nn.Linear):\n def forward(self): HERE",
        "class A(torch.nn.Module):\n def forward_features(self): HERE",
        "class A(nn.Module):\n def loss(self): HERE",
        "class A(LightningModule):\n def training_step(self): HERE",
        "class A(LightningModule):\n def validation_step(self): HERE",
        "class A(LightningModule):\n def on_train_batch_end(self): HERE",
        "class A(PreTrainedModel):\n def forward(self): HERE",
        "class A(Base[int]):\n def forward(self): HERE",
        "class A(Trainer):\n def compute_loss(self): HERE",
        "class A(SomeLayer):\n def forward(self): HERE",
        "class B(nn.Module): pass\nclass A(B):\n def loss(self): HERE",
        "class A(torch.autograd.Function):\n @staticmethod\n def backward(ctx): HERE",
        "class A(nn.Module):\n def forward(self): self.go()\n def go(self): HERE",
        "class A(nn.Module):\n def forward(me): me.go()\n def go(self): HERE",
        "class A(nn.Module):\n def forward(self): f(self.go)\n def go(self): HERE",
        "class A(nn.Module):\n def forward(self): self.a()\n def a(self): self.b()\n def b(self): HERE",
        "class A(nn.Module):\n def forward(self):\n  def f(): HERE\n  f()",
        "class A(nn.Module):\n def forward(self): f(lambda: HERE)",
    ],
)
def test_a_forward_pass_runs_every_step(source: str) -> None:
    assert words(source) - {"no-grad"} == {"forward", "per-step"}
    assert the(source).frequency == "step"


@pytest.mark.parametrize(
    ("base", "method", "runs"),
    [
        ("transformers.TrainerCallback", "on_step_end", True),
        ("transformers.trainer_callback.TrainerCallback", "on_substep_end", True),
        ("pytorch_lightning.Callback", "on_train_batch_end", True),
        ("transformers.TrainerCallback", "on_epoch_end", False),
        ("transformers.TrainerCallback", "on_train_end", False),
        ("transformers.TrainerCallback", "on_log", False),
        ("lightning.pytorch.callbacks.Callback", "on_train_epoch_end", False),
        ("fastai.callback.Callback", "on_step_end", False),
    ],
)
def test_a_library_calls_hooks_every_step(base: str, method: str, runs: bool) -> None:
    package = base.partition(".")[0]
    source = f"import {package}\nclass A({base}):\n def {method}(self, trainer): HERE"
    assert words(source) == ({"per-step"} if runs else set())


@pytest.mark.parametrize(
    ("source", "runs"),
    [
        ("@trainer.on(Events.ITERATION_COMPLETED)\ndef show(engine): HERE", True),
        ("@self.engine.on(ignite.engine.Events.ITERATION_STARTED)\ndef show(engine): HERE", True),
        ("def show(engine): HERE\ntrainer.add_event_handler(Events.ITERATION_COMPLETED, show)", True),
        ("@trainer.on(Events.EPOCH_COMPLETED)\ndef show(engine): HERE", False),
        ("@trainer.on(Events.ITERATION_COMPLETED(every=100))\ndef show(engine): HERE", False),
        ("def show(engine): HERE\ntrainer.add_event_handler(Events.COMPLETED, show)", False),
        ("def show(engine): HERE\ntrainer.fire_event(Events.ITERATION_COMPLETED, show)", False),
        ("def show(engine): HERE\ntrainer.on(Events.ITERATION_COMPLETED, other)", False),
    ],
)
def test_an_event_of_each_step_runs_what_waits_for_it(source: str, runs: bool) -> None:
    assert words(source) == ({"per-step"} if runs else set())


def test_a_class_may_come_from_another_module() -> None:
    source = "from layers import B\nclass A(B):\n def loss(self): HERE"
    assert words(source, project={"layers.py": "class B: pass"}) == set()
    inherited = {"layers.py": "from torch import nn\nclass B(nn.Module): pass"}
    assert words(source, project=inherited) == {"forward", "per-step"}


@pytest.mark.parametrize(
    "line",
    [
        "loss.backward()",
        "self.scaler.scale(loss).backward()",
        "accelerator.backward(loss)",
        "torch.autograd.backward(loss)",
        "optimizer.step()",
        "self.optimizers[0].step()",
        "self.optimizers().step()",
        "opt_g.step()",
        "optG.step()",
        "d_opt.step()",
        "scaler.step(optimizer)",
        "x.step(optim)",
        "xm.optimizer_step(o)",
        "optimizer.zero_grad()\n update(optimizer)",
        "if a: loss.backward()",
        "with f():\n  try: loss.backward()\n  except E: pass",
        "try: pass\n except E: loss.backward()",
        "match a:\n  case 1: loss.backward()",
        "x = [y.backward() for y in z]",
    ],
)
def test_a_training_loop(line: str) -> None:
    for head in ("for a in b:", "while True:"):
        source = f"{head}\n {line}\n HERE"
        assert words(source) == {"training-loop", "per-step"}
        assert the(source).frequency == "step"


def test_what_torch_made_is_an_optimizer_by_any_name() -> None:
    source = "sgd = torch.optim.SGD(p)\nfor a in b:\n sgd.step()\n HERE"
    assert words(source) == {"training-loop", "per-step"}


def test_a_function_that_a_step_calls_runs_in_it() -> None:
    assert "per-step" in words("class A(nn.Module):\n def forward(self): fit()\ndef fit(): HERE")


def test_what_is_inside_a_step_is_part_of_it() -> None:
    for inner in ("for c in d: HERE", "f = lambda: HERE", "def f(): HERE", "with f(): HERE"):
        assert words(f"for a in b:\n loss.backward()\n {inner}") == {"training-loop", "per-step"}


@pytest.mark.parametrize(
    "line",
    [
        "if a: HERE",
        "if i % 10: HERE",
        "if i % 10 != 0: HERE",
        "if i > 10: HERE",
        "if 'a%d' % i: HERE",
        "if not i % 10: pass\n else: HERE",
        "if i % 10 == 0: continue\n HERE",
        "x = a and HERE",
        "if log: HERE",
        "if i == 0: HERE",
        "if mode == 1: HERE",
        "if step > 0: HERE",
        "if step != 0: HERE",
    ],
)
def test_every_step(line: str) -> None:
    assert the(f"for i, a in b:\n loss.backward()\n {line}").frequency == "step"


@pytest.mark.parametrize(
    "line",
    [
        "if i % 10 == 0: HERE",
        "if (i + 1) % args.log_every == 0 and a: HERE",
        "if last or i % 10 == 0: HERE",
        "if not i % 10: HERE",
        "if i % 10: pass\n else: HERE",
        "if i % 10: continue\n HERE",
        "if step == 0: HERE",
        "if self.scale and batch_idx == 0: HERE",
        "if global_step != 0: pass\n else: HERE",
        "if should_log: HERE",
        "if self.control.should_save: HERE",
        "go = i % 10 == 0\n if go: HERE",
        "x = HERE if i % 10 == 0 else 0",
        "i % 10 == 0 and HERE",
        "if i % 10 == 0:\n  for c in d: HERE",
        "if i % 10 == 0:\n  def f(): HERE",
    ],
)
def test_some_steps(line: str) -> None:
    assert the(f"for i, a in b:\n loss.backward()\n {line}").frequency == "interval"


@pytest.mark.parametrize(
    ("sets", "frequency"),
    [
        ("def train(self): self.do_log = True\n def val(self): self.do_log = False", "step"),
        ("do_log = True", "step"),
        ("def tick(self, i): self.do_log = i > 9", "interval"),
        ("def tick(self, i):\n  self.do_log = False\n  if i > 9: self.do_log = True", "interval"),
        ("def tick(self, i): pass", "interval"),
    ],
)
def test_a_mode_of_an_object_holds_in_every_step(sets: str, frequency: str) -> None:
    loop = "def run(self):\n  for i, a in b:\n   loss.backward()\n   if self.do_log: HERE"
    assert the(f"class A:\n {sets}\n {loop}").frequency == frequency


def test_an_interval_outside_a_step_says_nothing() -> None:
    assert the("for i in b:\n if i % 10 == 0: HERE").frequency == "unknown"


@pytest.mark.parametrize(
    "source",
    [
        "class A:\n def __getitem__(self, i): HERE",
        "class A(Base):\n def __getitem__(self, i): HERE",
        "class A(Dataset):\n def __init__(self): HERE",
        "class A(Dataset):\n def __iter__(self): HERE\n def __getitem__(self, i): pass",
        "class A(Dataset):\n def __getitem__(self, i): return f(i)\ndef f(i): HERE",
        "def collate(b): HERE\nDataLoader(d, sampler=collate)",
        "def collate(b): HERE",
        "DataLoader(d, collate_fn=HERE)",
        "DataLoader(d, sampler=lambda b: HERE)",
    ],
)
def test_no_worker(source: str) -> None:
    assert "worker" not in words(source)


@pytest.mark.parametrize(
    "source",
    [
        "class A(Dataset):\n def __getitem__(self, i): HERE",
        "class A(torch.utils.data.Dataset[int]):\n def __getitem__(self, i): HERE",
        "class A(ImageDataset):\n def __getitem__(self, i): HERE",
        "class ADataset:\n def __getitem__(self, i): HERE",
        "class A(IterableDataset):\n def __iter__(self): HERE",
        "class A(Dataset):\n def __getitem__(self, i): return self.get(i)\n def get(self, i): HERE",
        "def pack(b): HERE\nDataLoader(d, collate_fn=pack)",
        "def f():\n def pack(b): HERE\n DataLoader(d, collate_fn=pack)",
        "def pack(b): HERE\nDataLoader(d, collate_fn=functools.partial(pack, 1))",
        "class A:\n def pack(self, b): HERE\n def go(self): DataLoader(d, collate_fn=self.pack)",
        "def seed(i): HERE\nDataLoader(d, worker_init_fn=seed)",
        "DataLoader(d, collate_fn=lambda b: HERE)",
        "class Pack:\n def __call__(self, b): HERE\nDataLoader(d, collate_fn=Pack())",
        "class MyCollator:\n def __call__(self, b): HERE",
        "class A(Dataset):\n def collate_fn(self, b): HERE",
    ],
)
def test_what_runs_in_a_worker(source: str) -> None:
    assert words(source) == {"worker"}


@pytest.mark.parametrize(
    "source",
    [
        "if rank: HERE",
        "if rank == 1: HERE",
        "if rank != 0: HERE",
        "if rank > 0: HERE",
        "if rank >= 0: HERE",
        "if rank in (0, 1): HERE",
        "if rank == 0 or debug: HERE",
        "if rank == 0: pass\nelse: HERE",
        "if tensor.rank_of == 0: HERE",
        "me = dist.get_world_size()\nif me == 0: HERE",
        "if int(os.environ['WORLD_SIZE']) == 0: HERE",
        "class A:\n def __init__(self): self.master = find()\n def f(self):\n  if self.master: HERE",
        "def alone(): return rank == 1\nif alone(): HERE",
        "args.show = args.show and verbose\nif args.show: HERE",
        "args.show = rank == 0\nargs.show = verbose\nif args.show: HERE",
        "args.show = rank == 0 or verbose\nif args.show: HERE",
        "args.show = rank == 0\nif opt.show: HERE",
        "args.show = rank == 0\nif args.show or x: HERE",
        "show = True\nif show: HERE",
        "show = rank == 0 if ddp else verbose\nif show: HERE",
        "if step % 2 == 0: HERE",
        "def alone(x): return rank == 0\nif alone(x): HERE",
        "if domain == 0: HERE",
        "if is_domain: HERE",
        "if rank == 0: pass\nHERE",
        "def f():\n if rank == 0: return\n HERE",
        "def f():\n if rank != 0: x = 1\n HERE",
        "with accelerator.main_process_first(): HERE",
        "@hydra.main\ndef f(): HERE",
        "@rank_args\ndef f(): HERE",
        "@master\ndef f(): HERE",
        "rank == 0 or HERE",
        "if x: HERE",
    ],
)
def test_on_every_rank(source: str) -> None:
    assert "rank-guarded" not in words(source)
    assert the(source).reasons == ()


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("if rank == 0: HERE", "`if rank == 0`"),
        ("if 0 == rank: HERE", "`if 0 == rank`"),
        ("if not rank: HERE", "`if not rank`"),
        ("if dist.get_rank() == 0 and x: HERE", "`if dist.get_rank() == 0 and x`"),
        ("if rank < 1: HERE", "`if rank < 1`"),
        ("if args.rank == 0: HERE", "`if args.rank == 0`"),
        ("if hvd.rank() == 0: HERE", "`if hvd.rank() == 0`"),
        ("if xr.global_ordinal() == 0: HERE", "`if xr.global_ordinal() == 0`"),
        ("if int(os.environ['LOCAL_RANK']) == 0: HERE", "`if int(os.environ['LOCAL_RANK']) == 0`"),
        ("if os.environ.get('RANK') == '0': HERE", "`if os.environ.get('RANK') == '0'`"),
        ("def alone(): return rank == 0\nif alone(): HERE", "`if alone()`"),
        ("me = dist.get_rank()\nif me == 0: HERE", "`if me == 0`"),
        ("if rank <= 0: HERE", "`if rank <= 0`"),
        ("if not dist.is_initialized() or rank == 0: HERE", "`if not dist.is_initialized() or rank == 0`"),
        ("if is_main_process(): HERE", "`if is_main_process()`"),
        ("if accelerator.is_local_main_process: HERE", "`if accelerator.is_local_main_process`"),
        ("if master_process: HERE", "`if master_process`"),
        ("if utils.is_primary(args): HERE", "`if utils.is_primary(args)`"),
        ("if trainer.is_global_zero: HERE", "`if trainer.is_global_zero`"),
        ("if xm.is_master_ordinal(): HERE", "`if xm.is_master_ordinal()`"),
        ("show = rank == 0\nif show: HERE", "`if show`"),
        ("args.show = args.path and is_master(args)\nif args.show: HERE", "`if args.show`"),
        (
            "def f(cfg): cfg.show = cfg.rank == 0\ndef g(cfg):\n if x and cfg.show: HERE",
            "`if x and cfg.show`",
        ),
        ("opt.show = rank == 0\nif not opt.show: pass\nelse: HERE", "`if opt.show`"),
        ("show = True\nif ddp: show = rank == 0\nif show: HERE", "`if show`"),
        ("show = rank == 0 if ddp else True\nif show: HERE", "`if show`"),
        ("first = rank == 0\nshow = first\nif show: HERE", "`if show`"),
        ("if args.rank % gpus == 0: HERE", "`if args.rank % gpus == 0`"),
        (
            "if not args.multi or (args.multi and args.rank % gpus == 0): HERE",
            "`if not args.multi or (args.multi and args.rank % gpus == 0)`",
        ),
        (
            "class A:\n def __init__(self): self.master = rank == 0\n def f(self):\n  if self.master: HERE",
            "`if self.master`",
        ),
        ("if rank != 0: pass\nelse: HERE", "past `if rank != 0`"),
        ("if rank > 0 or x: pass\nelse: HERE", "past `if rank > 0 or x`"),
        ("def f():\n if rank != 0: return\n HERE", "past `if rank != 0`"),
        ("rank == 0 and HERE", "`if rank == 0`"),
        ("x = HERE if rank == 0 else 1", "`if rank == 0`"),
        ("@rank_zero_only\ndef f(): HERE", "`@rank_zero_only`"),
        ("@accelerator.on_main_process\ndef f(): HERE", "`@accelerator.on_main_process`"),
        ("@main_process\ndef f(): HERE", "`@main_process`"),
        ("@utils.master_only\ndef f(): HERE", "`@utils.master_only`"),
        ("@trainer_rank_zero_only\ndef f(): HERE", "`@trainer_rank_zero_only`"),
        ("if rank == 0:\n if rank == 0:\n  def f(): HERE", "`if rank == 0`"),
    ],
)
def test_on_the_first_rank(source: str, text: str) -> None:
    assert "rank-guarded" in words(source)
    reasons = [why for why in the(source).reasons if "rank" in why.message]
    assert [why.message for why in reasons] == [f"only on rank 0: {text}"]


@pytest.mark.parametrize(
    ("test", "where"),
    [
        ("args.local_rank in (-1, 0)", "on rank 0 or without distributed training"),
        ("local_rank == -1", "without distributed training"),
        ("rank == 0", "on rank 0"),
    ],
)
def test_minus_one_is_the_rank_of_a_run_without_ranks(test: str, where: str) -> None:
    source = f"if {test}: HERE"
    assert "rank-guarded" in words(source)
    assert f"only {where}: `if {test}`" in [why.message for why in the(source).reasons]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("if x: HERE", set()),
        ("x = HERE", set()),
        ("f(HERE)", set()),
        ("x = a or HERE", set()),
        ("x = a if b else HERE", set()),
        ("[a for a in HERE]", set()),
        ("if HERE: pass", {"condition"}),
        ("if f(HERE > 1): pass", {"condition", "comparison"}),
        ("while HERE: pass", {"condition"}),
        ("x = a if HERE else b", {"condition"}),
        ("x = HERE or a", {"condition"}),
        ("x = a and HERE and b", {"condition"}),
        ("x = not HERE", {"condition"}),
        ("[a for a in b if HERE]", {"condition"}),
        ("match a:\n case 1 if HERE: pass", {"condition"}),
        ("assert HERE", {"condition", "comparison"}),
        ("isinstance(HERE, A)", set()),
        ("isinstance(x, A)\nHERE", set()),
        ("f(x, HERE)", set()),
        ("isinstance(x, (A, HERE))", {"isinstance"}),
        ("if issubclass(x, HERE): pass", {"isinstance", "condition"}),
        ("try: HERE\nexcept ImportError: pass", set()),
        ("try: HERE\nexcept (ImportError, ModuleNotFoundError): pass", set()),
        ("try: HERE\nfinally: pass", set()),
        ("try: pass\nexcept E: HERE", set()),
        ("try: pass\nexcept E: pass\nelse: HERE", set()),
        ("try:\n def f(): HERE\nexcept E: pass", set()),
        ("try: HERE\nexcept E: pass", {"try"}),
        ("try: HERE\nexcept: pass", {"try"}),
        ("try: HERE\nexcept (ImportError, ValueError): pass", {"try"}),
        ("try:\n if a:\n  HERE\nexcept ImportError: pass\nexcept E: pass", {"try"}),
    ],
)
def test_tests_and_attempts(source: str, found: set[str]) -> None:
    assert words(source) == found
