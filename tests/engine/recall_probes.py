"""Small programs of the causes for which lines of real ports were missed: each shows one.

`# expect: CODE` marks a line with a finding, `# missed: CODE` one that should have it; MISSED says why.
"""

from __future__ import annotations

NET = """
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
    def forward(self, x):
        return self.fc(x)
"""
HELPERS = """
import torch
def to_number(value):
    return value.item()  # expect: XLA101
def to_array(value):
    half = value / 2
    return half.cpu().numpy()  # expect: XLA102
def sign(value):
    if value > 0:  # expect: XLA106
        return 1
    return 0
def chosen(values, keep):
    return values[keep].sum()  # expect: XLA202
def update(net, optimizer, x):
    loss = net(x).sum()
    loss.backward()
    optimizer.step()
    return loss
"""
USES = """
import torch
def train(data):
    device = torch.device("cuda")  # expect: XLA001
    net = Net().to(device)
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for x in torch.utils.data.DataLoader(data, batch_size=8, drop_last=True):
        loss = update(net, optimizer, x.to(device))  # expect: XLA401
        out = net(x.to(device))
        to_number(loss)
        to_array(out)
        sign(loss)
        chosen(out, out > 0)
"""
TRAINER = """
import torch
class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), 0.1)
    def run(self, batch):
        loss = self.model(batch.cuda()).sum()
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
"""
LOOP = """
from lib import Trainer
def main(model, batches):
    trainer = Trainer(model)
    for batch in batches:
        trainer.run(batch)  # expect: XLA401
"""
CACHED = """
import torch
import torch_xla
from torch import nn
class Cached(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.register_buffer("kept", torch.zeros(2, n, 4))
    def forward(self, x, at: int):
        self.kept[:, at:at + 1] = x  # expect: XLA301
        return self.kept[:, :at + 1].sum()  # expect: XLA301
"""
DECODE = """
import torch
import torch_xla
def main():
    device = torch_xla.device()
    model = MADE.to(device)
    x = torch.zeros(2, 1, 4, device=device)
    last = 0
    for now in range(1, 9):
        x = x + model(x, GIVEN)
        last = now
        torch_xla.sync()
    return x
main()
"""
STACK = """
class Stack(nn.Module):
    def __init__(self, n):
        super().__init__()
        LAYERS
    def forward(self, x, at: int):
        for layer in self.layers:
            x = x + layer(x, at)
        return x
"""
IN_TURN = (
    "self.layers = nn.ModuleList()\n        for _ in range(2):\n            self.layers.append(Cached(n))"
)
AT_ONCE = "self.layers = nn.ModuleList([Cached(n) for _ in range(2)])"


def decoding(made: str = "Cached(9)", given: str = "now") -> str:
    return DECODE.replace("MADE", made).replace("GIVEN", given)


def stack(layers: str) -> str:
    return CACHED + STACK.replace("LAYERS", layers) + decoding("Stack(9)")


FROM_LIB = "from lib import Net, to_number, to_array, sign, chosen, update\n"
SAVES = """
import torch
import torch.distributed as dist
def store(state):
    torch.save(state, "c.pt")
def evaluate(model, x):
    return model(x)
def main(args):
    torch.cuda.set_device(0)
    model = torch.nn.Linear(2, 2).to("cuda")
    if dist.get_rank() == 0:
        torch.save(model.state_dict(), "a")  # expect: XLA710
    if args.local_rank in [-1, 0]:
        torch.save(model.state_dict(), "b")  # expect: XLA710
    if args.rank == 0:
        torch.save(model.state_dict(), "c")  # expect: XLA710
    if dist.get_rank() == 0:
        model.save_pretrained("d")  # expect: XLA710
    if dist.get_rank() == 0:
        evaluate(model, torch.ones(2, 2, device="cuda"))  # expect: XLA710
    store({"state": model.state_dict()})
    kept = {"state": model.state_dict()}
    torch.save(kept, "e")  # expect: XLA906
"""
DEVICES = """
import torch
def chain():
    if torch.cuda.is_available():  # expect: XLA003
        return "cuda"
    return "cpu"
def chain_of_three():
    if torch.cuda.is_available():  # expect: XLA003
        return "cuda"
    if torch.backends.mps.is_available():
        return "mps"
    return "cpu"
def negated(device):
    if not torch.cuda.is_available():  # expect: XLA003
        device = torch.device("cpu")
    return device
def current(grads):
    device = torch.device("cpu")
    if torch.cuda.is_available():  # expect: XLA003
        device = torch.cuda.current_device()
    return [g.to(device) for g in grads]
def dtype(name):
    return torch.float32 if name == "cpu" else torch.float16  # expect: XLA802
"""
SETTINGS = """
import os, torch, wandb
import torch.distributed as dist
from contextlib import nullcontext
from lightning.fabric.strategies import FSDPStrategy
from torch import autocast
def groups(cfg):
    torch.cuda.set_device(0)
    dist.init_process_group(backend=cfg.distributed.backend)  # expect: XLA701
    if dist.get_backend() == "nccl":  # expect: XLA013
        return dist.new_group(backend="gloo")
    if not dist.is_nccl_available():  # expect: XLA611
        return None
    return FSDPStrategy()  # expect: XLA707
def run(model, amp):
    scope = autocast if amp else nullcontext
    with scope("cuda"):  # expect: XLA801
        y = model(torch.ones(2))
    with torch.cuda.amp.autocast(enabled=False):  # expect: XLA801
        return y + model(torch.ones(2))
def watch(model):
    wandb.watch(model, log=os.getenv("WATCH", "gradients"), log_freq=10)  # expect: XLA112
"""
ON_CPU = """
import torch
def main(data):
    device = "cpu"  # expect: XLA017
    model = torch.nn.Linear(2, 2).to(device)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for x in data:
        model(x.to(device)).sum().backward()
        optimizer.step()
"""
LOADERS = """
import torch
from torch.utils.data import DataLoader
def make(data, size):
    return DataLoader(data, batch_size=size, drop_last=False)  # expect: XLA901
def open_ended(data, **options):
    return DataLoader(data, drop_last=False, **options)  # expect: XLA901
def pad(ids):
    longest = max(len(s) for s in ids)
    def padded(s):
        return torch.cat((s, torch.full((longest - len(s),), 0)))
    return torch.stack([padded(s) for s in ids])  # expect: XLA904
def by_hand(data, model, optimizer):
    for i in range(100):
        x = pad([data[j] for j in range(4)]).cuda()
        model(x).sum().backward()
        optimizer.step()
def images(rows, model):
    for i in range(0, len(rows), 8):
        batch = rows[i : i + 8]  # expect: XLA901
        print(model(torch.stack(batch).cuda()).sum())
def train(data, model, optimizer):
    for x in make(data, 8):
        model(x.cuda()).backward()
        optimizer.step()
    for x in DataLoader(data, batch_size=8, shuffle=True):  # expect: XLA901
        model(x.cuda()).backward()
        optimizer.step()
"""
MASKS = """
import torch
from torch import Tensor, nn
from other import compute_mask
class Masked(nn.Module):
    def forward(self, x: Tensor, wanted: Tensor, padding_mask: Tensor, b: torch.BoolTensor):
        kept = x[wanted.ne(1)]  # expect: XLA202
        held = {"wanted": wanted}
        kept = kept + x[held["wanted"].ne(1)]  # expect: XLA202
        x[padding_mask] = 0  # expect: XLA203
        x[b] = 1  # expect: XLA203
        seen = ~padding_mask
        kept = kept + x[seen]  # expect: XLA202
        made = torch.from_numpy(compute_mask(x.shape)).to(x.device)
        kept = kept + x[made]  # expect: XLA202
        rows = compute_mask(x.shape)
        kept = kept + x[rows]  # expect: XLA202
        return x, kept
"""
ARGUMENTS = """
import torch
from torch import nn
class Padded(nn.Module):
    def forward(self, x):
        n = (-x.shape[0]) % 32
        x = torch.cat([x, x[-1:].repeat(n, 1)])  # expect: XLA510
        y = x.reshape(-1, n)[:, -2:]  # expect: XLA514
        return (x < 1).type(x.type()), y  # expect: XLA011
"""
ON_THE_CPU = """
import torch
from torch import nn
class Sampled(nn.Module):
    def forward(self, x):
        n = torch.randint(0, x.max(), (3,), device=x.device)  # expect: XLA109
        boxes = torch.ops.torchvision.nms(x, x[:, 0], 0.5)  # expect: XLA208
        drawn = torch.distributions.Gamma(x, x, validate_args=False).rsample()  # expect: XLA501
        return n, boxes, drawn
"""
KEPT = """
import torch
class Trainer:
    def __init__(self, model):
        self.model = model
    def save(self):
        self.model.to("cpu").save_pretrained("x")  # expect: XLA906
    def save_state(self):
        self.model.to("cpu")  # expect: XLA906
        torch.save(self.model, "x")
def store(state, name="c.pt"):
    torch.save(state, name)  # expect: XLA906
def main():
    model = torch.nn.Linear(2, 2).to("cuda")
    store({"state_dict": model.state_dict()})
"""
DENOISE = """
import torch
from lib import Transformer2DModel
class Pipeline:
    def __init__(self, transformer: Transformer2DModel, scheduler):
        self.register_modules(transformer=transformer, scheduler=scheduler)
    @torch.no_grad()
    def run(self, device):
        x = torch.randn(4, 4, device=device)
        for t in self.scheduler.timesteps:  # expect: XLA402
            x = self.scheduler.step(self.transformer(x, t)[0], t, x)
        return x
"""

PROBES: dict[str, dict[str, str]] = {
    "calls of another file": {"lib.py": NET + HELPERS, "main.py": FROM_LIB + USES},
    "the same calls in one file": {"main.py": NET + HELPERS + USES},
    "a step of another file": {"lib.py": TRAINER, "main.py": LOOP},
    "a position in another file": {"lib.py": CACHED, "main.py": "from lib import Cached\n" + decoding()},
    "a position in one file": {"main.py": CACHED + decoding()},
    "a position that a name keeps": {"main.py": CACHED + decoding(given="last")},
    "layers that are appended": {"main.py": stack(IN_TURN)},
    "layers that are listed": {"main.py": stack(AT_ONCE)},
    "saving on one rank": {"main.py": SAVES},
    "a choice of device": {"main.py": DEVICES},
    "settings and backends": {"main.py": SETTINGS},
    "the CPU on every host": {"main.py": ON_CPU},
    "loaders": {"main.py": LOADERS},
    "numbers and draws": {"main.py": ON_THE_CPU},
    "models that are saved": {"main.py": KEPT},
    "models of another library": {"main.py": DENOISE},
    "masks": {"main.py": MASKS},
    "arguments that only XLA refuses": {"main.py": ARGUMENTS},
}
MISSED: dict[str, str] = {}
