"""Methods that a text names, and the keywords that `**kwargs` holds."""

from __future__ import annotations

from textwrap import dedent, indent

import pytest

from .said import said

NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(8, 8)
    def forward(self, {params}):
{body}
    def _fwd(self, x, flag=False):
        return self.lin(x)
    def _mask(self, x, m, flag=True):
        return self.lin(x[m].view(-1, 8))
    def score_mean(self, x):
        return x.mean()
    def score_first(self, x):
        return x[x[:, 0] > 0]
net = Net().to("cuda")
opt = torch.optim.SGD(net.parameters(), 0.1)
for x in torch.utils.data.DataLoader([]):
    x = x.to("cuda")
    kind = input()
    loss = {call}.sum()
    loss.backward()
    opt.step()
"""
POP = "mode = kwargs.pop('mode', 'fwd')\nreturn getattr(self, '_' + mode)(*args, **kwargs)"
MASK = "dynamic-shape mask-read: x[m]"
BY_TEST = """
if mode == 'fwd':
    return self._fwd(**kwargs)
elif mode == 'mask':
    return self._mask(**kwargs)
raise ValueError(mode)
"""


def shapes(params: str, body: str, call: str) -> list[str]:
    """Return where shapes depend on values."""
    inner = indent(dedent(body).strip("\n"), "        ")
    return said(NET.format(params=params, body=inner, call=call), "dynamic-shape")


@pytest.mark.parametrize(
    ("params", "body", "call"),
    [
        ("*args, **kwargs", POP, "net(x, x[..., 0] > 0, mode='mask')"),
        ("*args, **kwargs", POP, "net(x, m=x[..., 0] > 0, flag=True, mode='mask')"),
        ("*args, **kwargs", POP.replace("pop", "get"), "net(x, x[..., 0] > 0, mode='mask')"),
        (
            "*args, **kwargs",
            """
            mode = kwargs.get('mode', 'fwd')
            if 'mode' in kwargs:
                del kwargs['mode']
            return getattr(self, '_' + mode)(*args, **kwargs)
            """,
            "net(x, m=x[..., 0] > 0, mode='mask')",
        ),
        ("mode, **kwargs", BY_TEST, "net('mask', x=x, m=x[..., 0] > 0)"),
        ("x, mode", "return getattr(self, f'_{mode}')(x, x[..., 0] > 0)", "net(x, 'mask')"),
        ("x, mode", "return getattr(self, '_%s' % mode)(x, x[..., 0] > 0)", "net(x, 'mask')"),
        ("x, mode", "return getattr(self, '_{}'.format(mode))(x, x[..., 0] > 0)", "net(x, 'mask')"),
        ("x, mode='mask'", "run = getattr(self, '_' + mode)\nreturn run(x, x[..., 0] > 0)", "net(x)"),
    ],
)
def test_a_method_runs_with_the_arguments_of_the_call(params: str, body: str, call: str) -> None:
    assert shapes(params, body, call) == [MASK]


@pytest.mark.parametrize(
    ("params", "body", "call"),
    [
        ("*args, **kwargs", POP, "net(x)"),  # by default another
        ("*args, **kwargs", POP, "net(x, mode='fwd')"),
        ("mode, **kwargs", BY_TEST, "net('fwd', x=x)"),
        ("x, mode", "return getattr(self, f'_{mode}')(x)", "net(x, kind)"),  # any name begins like this
        ("x, mode", "return getattr(self, '%' + mode)(x)", "net(x, 'mask')"),
    ],
)
def test_other_methods_do_not_run(params: str, body: str, call: str) -> None:
    assert MASK not in shapes(params, body, call)


def test_a_prefix_of_whole_words_names_its_methods() -> None:
    found = shapes("x, kind", "return getattr(self, f'score_{kind}')(x)", "net(x, kind)")
    assert "dynamic-shape mask-read: x[x[:, 0] > 0]" in found


@pytest.mark.parametrize(
    ("body", "call", "reads"),
    [
        ("if 'log' in kwargs: print(x.sum())", "run(x, log=1)", True),
        ("print(float(kwargs.get('scale', 1)))", "run(x)", False),
        ("print(float(kwargs.get('scale', 1)))", "run(x, scale=x.sum())", True),
        ("if 'log' not in kwargs: print(x.sum())", "run(x, log=1)\n    run(x)", True),
        # what the calls in sight leave out runs for other callers
        ("if 'log' in kwargs: print(x.sum())", "run(x)", True),
        # it is not known what the call gives
        ("log = kwargs.get('log')\nif log is not None: print(x.sum())", "run(x, **options)", True),
        ("kwargs.setdefault('log', 1)\nif 'log' in kwargs: print(x.sum())", "run(x)", True),
        ("kwargs['log'] = 1\nif 'log' in kwargs: print(x.sum())", "run(x)", True),
        ("kwargs.update(log=1)\nif 'log' in kwargs: print(x.sum())", "run(x)", True),
        ("if kwargs.pop('log', None) is not None: print(x.sum())", "run(x, log=1)", True),
    ],
)
def test_keywords_decide_tests(body: str, call: str, reads: bool) -> None:
    text = f"""
def run(x, **kwargs):
{indent(body, "    ")}
    return x
def main(options):
    x = torch.ones(2, device="cuda")
    {call}
if __name__ == "__main__":
    main(input())
"""
    assert bool(said(text, "host-read")) == reads
