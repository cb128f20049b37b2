"""Methods that steps call by a text: `getattr(self, "_" + mode)(x)`."""

from __future__ import annotations

from textwrap import dedent

import pytest

from .interp.projects import facts_by_module
from .test_callgraph import called

BASE = """
import torch
from torch import nn
class Base(nn.Module):
    def forward(self, *args, **kwargs):
        {forward}
"""
NET = """
import torch
from base import Base
class Net(Base):
    def _plain(self, x): return x.tanh()
    def _sample(self, x, n=3): return self._drawn(x)
    def _drawn(self, x): return x.multinomial(1)
    def _report(self, x): return x.mean().item()
class Other(torch.nn.Module):
    def _sample(self, x): return x
"""
USE = """
import torch, net
def run(model, x):
    return {call}
"""
BY_KEYWORD = "return getattr(self, '_' + kwargs.pop('mode', 'plain'))(*args, **kwargs)"
CALL = "model(x, mode='sample', n=2)"


def in_net(forward: str = BY_KEYWORD, call: str = CALL) -> list[str]:
    """Return the methods of classes in `net` that run every step."""
    body = forward.replace("\n", "\n        ")
    found = called(base=BASE.format(forward=body), net=NET, use=USE.format(call=call))
    return [name.removeprefix("net.") for name in found if name.startswith("net.")]


@pytest.mark.parametrize(
    "forward",
    [
        BY_KEYWORD,
        "mode = kwargs.get('mode', 'plain')\ndel kwargs['mode']\nreturn getattr(self, '_' + mode)(*args)",
        "mode = kwargs['mode']\nreturn getattr(self, f'_{mode}')(*args)",
        "return getattr(self, '_%s' % kwargs.pop('mode'))(*args, **kwargs)",
        "run = getattr(self, '_{}'.format(kwargs.pop('mode')))\nreturn run(*args, **kwargs)",
    ],
)
def test_a_method_is_called_by_the_text_that_a_call_gives(forward: str) -> None:
    assert {"Net._drawn", "Net._sample"} <= set(in_net(forward))
    assert not {"Net._report", "Other._sample"} & set(in_net(forward))


def test_a_default_is_a_text_too() -> None:
    assert "Net._plain" in in_net()
    assert "Net._plain" not in in_net("return getattr(self, '_' + kwargs.pop('mode'))(*args)")


@pytest.mark.parametrize(
    "call",
    [
        "model(x, kind='sample')",  # another keyword
        "model(x, mode='report to')",  # the name of no method
        "print('sample')",
        "model(x, mode=mode)",
    ],
)
def test_other_texts_call_nothing(call: str) -> None:
    assert "Net._sample" not in in_net(call=call)


@pytest.mark.parametrize(
    "forward",
    [
        "return getattr(self.net, '_' + kwargs.pop('mode'))(*args)",  # of another object
        "self.kept = getattr(self, '_' + kwargs.pop('mode'))",  # not called here
        "return self._plain(*args, **kwargs)",
    ],
)
def test_other_lookups_call_nothing(forward: str) -> None:
    assert "Net._sample" not in in_net(forward)


def test_a_text_may_be_given_by_position() -> None:
    net = """
    from torch import nn
    class Net(nn.Module):
        def forward(self, mode, x): return getattr(self, mode)(x)
        def encode(self, x): return x
        def decode(self, x): return x
    """
    found = called(
        net=net, use="import torch\ndef run(model, x):\n    print('decode')\n    model('encode', x)\n"
    )
    assert "net.Net.encode" in found
    assert "net.Net.decode" not in found


def test_a_long_prefix_says_which_methods_are_meant() -> None:
    net = """
    from torch import nn
    class Net(nn.Module):
        def __init__(self, kind): self.kind = kind
        def forward(self, x):
            return getattr(self, f"compute_{self.kind}")(x) + getattr(self, f"norm{self.kind}")(x)
        def normalise(self, x): return x
        def compute_mean(self, x): return x.mean()
        def compute_(self, x): return x
        def report(self, x): return x
    """
    found = called(net=net)
    assert "net.Net.compute_mean" in found
    assert not {"net.Net.compute_", "net.Net.normalise", "net.Net.report"} & set(found)


def test_what_such_a_method_reads_is_read_every_step() -> None:
    base = BASE.format(forward=BY_KEYWORD)
    net = """
    import torch
    from base import Base
    class Net(Base):
        def _plain(self, x): return x.tanh()
        def _sample(self, x):
            for t in range(9):
                if torch.exp(x).sum() == 0:
                    break
            return x
        def _show(self, x):
            if torch.exp(x).sum() == 1:
                return x
    """
    texts = {"base": base, "net": dedent(net), "use": USE.format(call=CALL)}
    often = {texts["net"][slice(*f.span)][-1]: f.frequency for f in facts_by_module(texts)["net"]}
    assert often == {"0": "step", "1": "unknown"}


OVERRIDDEN = """
import torch
from torch import nn
class Base(nn.Module):
    def forward(self, x):
        return self.finish(self.core(x))
    def finish(self, x): return x
    def report(self): return self.describe()
"""
OVERRIDING = """
import torch
from base import Base
class Net(Base):
    def core(self, x): return x
    def finish(self, x): return self.last(x)
    def last(self, x): return x
    def describe(self): return "net"
    def other(self, x): return x
class Deeper(Net):
    def core(self, x): return x + 1
class Another(torch.nn.Module):
    def core(self, x): return x
"""


def test_a_forward_pass_runs_what_subclasses_override() -> None:
    found = set(called(base=OVERRIDDEN, net=OVERRIDING))
    assert {"net.Deeper.core", "net.Net.core", "net.Net.finish", "net.Net.last"} <= found
    assert not {"net.Net.describe", "net.Net.other", "net.Another.core"} & found


def test_a_training_loop_runs_what_subclasses_override() -> None:
    base = """
    import torch
    class Trainer:
        def fit(self, loader):
            self.prepare()
            for x in loader:
                self.optimizer.zero_grad()
                self.compute(x).backward()
                self.optimizer.step()
    """
    mine = """
    import torch
    from base import Trainer
    class Mine(Trainer):
        def prepare(self): pass
        def compute(self, x): return x.sum()
    """
    assert "mine.Mine.compute" in called(base=base, mine=mine)
    assert "mine.Mine.prepare" not in called(base=base, mine=mine)
